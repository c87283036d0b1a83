"""Reading the data of training: demand, caches, prefetching, and what is left to wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def read_demand(records: Numeric, size: Numeric, step_time: Numeric) -> Numeric:
    """Rate at which training takes data.

    b = n d / t

    Parameters
    ----------
    records : numeric
        Records n of a step: samples or tokens. [-]
    size : numeric
        Bytes d of one as stored. [B]
    step_time : numeric
        Time t of a step. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Full utilisation. Text needs little: 2 to 4 bytes a token.

    References
    ----------
    .. [1] MLCommons, "MLPerf Storage benchmark rules".
       https://github.com/mlcommons/storage/blob/main/Submission_guidelines.md
    """
    return records * size / step_time


@closed_form
def read_time(records: Numeric, size: Numeric, bandwidth: Numeric, requests: Numeric) -> Numeric:
    """Time to read the data of a step.

    t = max(n d / b, n / r)

    Parameters
    ----------
    records : numeric
        Records n of a step. [-]
    size : numeric
        Bytes d of one as stored. [B]
    bandwidth : numeric
        Rate b. [B/s]
    requests : numeric
        Requests per second r: one a record where each is a file of its own, many records a request
        otherwise. [1/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Requests and bytes flow at the same time; the slower of the two sets the pace.

    References
    ----------
    .. [1] Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021.
       https://www.vldb.org/pvldb/vol14/p771-mohan.pdf
    """
    return np.maximum(records * size / bandwidth, records / requests)


@closed_form
def cached_share(servers: Numeric, cache: Numeric, dataset: Numeric) -> Numeric:
    """Share of a data set that caches hold.

    x = min(1, s C / D)

    Parameters
    ----------
    servers : numeric
        Nodes s whose caches hold different parts; 1 if each holds what it pleases. [-]
    cache : numeric
        Cache C of a node. [B]
    dataset : numeric
        Data set D. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A partitioned cache: what another node holds comes over the network.

    References
    ----------
    .. [1] Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021.
       https://www.vldb.org/pvldb/vol14/p771-mohan.pdf
    """
    kept = np.asarray(dataset) > 0
    return np.where(kept, np.minimum(1.0, servers * cache / np.where(kept, dataset, 1.0)), 0.0)


@closed_form
def kept_hit_rate(share: Numeric) -> Numeric:
    """Hits of a cache that never evicts, when every epoch reads all in a new order.

    h = x

    Parameters
    ----------
    share : numeric
        Share x of the data set that fits, up to 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    From the second epoch on: the first has nothing to hit.

    References
    ----------
    .. [1] Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021.
       https://www.vldb.org/pvldb/vol14/p771-mohan.pdf
    """
    return np.minimum(share, 1.0) * 1.0


@closed_form
def lru_hit_rate(share: Numeric) -> Numeric:
    """Hits of a cache that evicts the least recently used, when every epoch reads all in a new order.

    h = x + (1 - x) ln(1 - x)

    Parameters
    ----------
    share : numeric
        Share x of the data set that fits, up to 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    From the second epoch on. Far below x: at 0.65 the hits are 0.28. The page cache lies between this and x.

    Examples
    --------
    >>> round(float(lru_hit_rate(0.65)), 4)
    0.2826

    References
    ----------
    .. [1] Fagin, "Asymptotic miss ratios over independent references", 1977; applied to one shuffle per epoch.
       https://doi.org/10.1016/S0022-0000(77)80014-7
    """
    rest = 1.0 - np.minimum(share, 1.0)
    return (1.0 - rest) + rest * np.log(np.where(rest > 0, rest, 1.0))


@closed_form
def overlapped_fetch_rate(hits: Numeric, cache: Numeric, storage: Numeric) -> Numeric:
    """Rate of reads that go to the cache and to storage at the same time.

    b = min(c / h, s / (1 - h))

    Parameters
    ----------
    hits : numeric
        Share h that the cache has. [-]
    cache : numeric
        Rate c of the cache. [B/s]
    storage : numeric
        Rate s of the storage. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Many workers: the busier of the two sets the pace.

    References
    ----------
    .. [1] Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021.
       https://www.vldb.org/pvldb/vol14/p771-mohan.pdf
    """
    of_cache = np.where(hits > 0, cache / np.where(hits > 0, hits, 1.0), np.inf)
    of_storage = np.where(hits < 1, storage / np.where(hits < 1, 1.0 - hits, 1.0), np.inf)
    return np.minimum(of_cache, of_storage)


@closed_form
def prefetch_depth(latency: Numeric, fetch: Numeric, step_time: Numeric) -> Numeric:
    """Batches that must be under way to hide the latency of storage.

    q = max(1, (L + f) / t)

    Parameters
    ----------
    latency : numeric
        Latency L of storage, from asking to the first byte. [s]
    fetch : numeric
        Time f to read a batch. [s]
    step_time : numeric
        Time t of a step. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Not rounded. Bandwidth is needed all the same: no depth hides f above t.

    References
    ----------
    .. [1] TensorFlow, "Better performance with the tf.data API". https://www.tensorflow.org/guide/data_performance
    """
    return np.maximum(1.0, (latency + fetch) / step_time)


@closed_form
def exposed_loading(step_time: Numeric, fetch: Numeric, latency: Numeric, depth: Numeric) -> Numeric:
    """Time of a step that waits for data.

    w = max(t, f, (L + f) / q) - t; L + f without prefetching

    Parameters
    ----------
    step_time : numeric
        Time t of a step without waiting. [s]
    fetch : numeric
        Time f to read a batch. [s]
    latency : numeric
        Latency L of storage. [s]
    depth : numeric
        Batches q under way at once; 0 for none. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Steady state of q requests in flight on one pipe. The first batch is start-up.

    References
    ----------
    .. [1] TensorFlow, "Better performance with the tf.data API". https://www.tensorflow.org/guide/data_performance
    """
    ahead = np.asarray(depth) >= 1
    spread = (latency + fetch) / np.where(ahead, depth, 1.0)
    return np.where(ahead, np.maximum(np.maximum(step_time, fetch), spread) - step_time, latency + fetch)


@closed_form
def accelerator_utilisation(step_time: Numeric, stall: Numeric) -> Numeric:
    """Share of the time that accelerators compute, as MLPerf Storage defines it.

    u = t / (t + w)

    Parameters
    ----------
    step_time : numeric
        Time t of a step without waiting. [s]
    stall : numeric
        Time w that it waits for data. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Passed at 0.90 (0.70 for cosmoflow).

    References
    ----------
    .. [1] MLCommons, "MLPerf Storage benchmark rules".
       https://github.com/mlcommons/storage/blob/main/Submission_guidelines.md
    """
    return step_time / (step_time + stall)


@closed_form
def usual_hit_rate(kept: Numeric, lru: Numeric, weight: Numeric, epochs: Numeric) -> Numeric:
    """Hits between those of a cache that never evicts and of one that evicts the least recently used.

    h = (1 - w) x + w (x + (1 - x) ln(1 - x)), less the first of n epochs

    Parameters
    ----------
    kept : numeric
        Hits of the one that never evicts. [-]
    lru : numeric
        Hits of the other. [-]
    weight : numeric
        Weight w of the other; the page cache lies in between. [-]
    epochs : numeric
        Epochs n of the run. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The first epoch has nothing to hit; one epoch or less hits nothing.

    References
    ----------
    .. [1] Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021.
       https://www.vldb.org/pvldb/vol14/p771-mohan.pdf
    """
    later = np.maximum(1.0 - 1.0 / np.maximum(epochs, 1.0), 0.0)
    return later * ((1.0 - weight) * kept + weight * lru)


@closed_form
def epochs(read: Numeric, dataset: Numeric) -> Numeric:
    """Epochs of a run, of which each reads the whole data set once.

    n = R / D

    Parameters
    ----------
    read : numeric
        Bytes R that a run reads. [B]
    dataset : numeric
        Data set D. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    1 where nothing is read.

    References
    ----------
    .. [1] Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021.
       https://www.vldb.org/pvldb/vol14/p771-mohan.pdf
    """
    kept = np.asarray(dataset) > 0
    return np.where(kept, read / np.where(kept, dataset, 1.0), 1.0)
