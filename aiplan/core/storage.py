"""What a storage system moves: the stages that bytes pass, and what capacity costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def servers_bandwidth(servers: Numeric, per_server: Numeric, replicas: Numeric) -> Numeric:
    """Rate of all servers of a storage system together.

    b = s b_1 / r

    Parameters
    ----------
    servers : numeric
        Servers s, or targets. [-]
    per_server : numeric
        Rate b_1 of one. [B/s]
    replicas : numeric
        Copies r that each byte is written in; 1 for reads and for systems without copies. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    No rebuild, no imbalance between servers.

    References
    ----------
    .. [1] Ghemawat, Gobioff and Leung, "The Google File System", SOSP 2003, section 6.1.
       https://research.google/pubs/the-google-file-system/
    """
    return servers * per_server / replicas


@closed_form
def clients_bandwidth(clients: Numeric, per_client: Numeric) -> Numeric:
    """Rate of all clients of a storage system together.

    b = c b_1

    Parameters
    ----------
    clients : numeric
        Clients c that read or write at once. [-]
    per_client : numeric
        Most that one can, b_1: its port, its mount or its driver. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Few clients cannot use a large system.

    References
    ----------
    .. [1] Ghemawat, Gobioff and Leung, "The Google File System", SOSP 2003, section 6.1.
       https://research.google/pubs/the-google-file-system/
    """
    return clients * per_client


@closed_form
def capacity_bandwidth(capacity: Numeric, rate: Numeric, unit: Numeric) -> Numeric:
    """Rate that comes with capacity, as cloud file systems sell it.

    b = C r / u

    Parameters
    ----------
    capacity : numeric
        Capacity C provisioned. [B]
    rate : numeric
        Rate r that comes with a unit of it. [B/s]
    unit : numeric
        That unit u. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    The baseline; bursts above it live on credits.

    Examples
    --------
    >>> capacity_bandwidth(4.8, 50.0, 1.0)
    240.0

    References
    ----------
    .. [1] Amazon, "FSx for Lustre performance". https://www.repost.aws/knowledge-center/fsx-for-lustre-performance
    """
    return capacity * rate / unit


@closed_form
def round_robin_targets(targets: Numeric, files: Numeric, stripe: Numeric) -> Numeric:
    """Targets that files use when an allocator deals them out in turn.

    k = min(K, m c)

    Parameters
    ----------
    targets : numeric
        Targets K of the system. [-]
    files : numeric
        Files m open at once. [-]
    stripe : numeric
        Targets c that a file is striped over. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The best case: no target has two stripes before all have one.

    References
    ----------
    .. [1] Schwan, "Lustre: Building a File System for 1000-node Clusters", Linux Symposium 2003.
       https://www.kernel.org/doc/ols/2003/ols2003-pages-380-386.pdf
    """
    return np.minimum(targets, files * stripe)


@closed_form
def requests_bandwidth(prefixes: Numeric, requests: Numeric, size: Numeric) -> Numeric:
    """Rate that a limit on requests leaves.

    b = p r o

    Parameters
    ----------
    prefixes : numeric
        Key prefixes p that requests are spread over; 1 for a limit of the whole system. [-]
    requests : numeric
        Requests per second r for each. [1/s]
    size : numeric
        Bytes o of a request. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Object stores split a busy prefix only after tens of minutes: new prefixes have one share.

    References
    ----------
    .. [1] Amazon, "Optimizing Amazon S3 performance".
       https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html
    """
    return prefixes * requests * size


@closed_form
def slots_bandwidth(slots: Numeric, size: Numeric, round_trip: Numeric) -> Numeric:
    """Rate of a mount that has so many requests in flight.

    b = k o / t

    Parameters
    ----------
    slots : numeric
        Requests k in flight. [-]
    size : numeric
        Bytes o of a request. [B]
    round_trip : numeric
        Time t from a request to its answer. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Little's law. Why NFS over a fast wire can use a tenth of it.

    References
    ----------
    .. [1] Operation of a 63-node B200 cluster with NFS over RoCE, 2026. https://arxiv.org/abs/2605.09370
    """
    return slots * size / round_trip


@closed_form
def narrowest(*stages: Numeric) -> Numeric:
    """Rate of stages that bytes pass one after the other.

    b = min(b_1, b_2, ...)

    Parameters
    ----------
    *stages : numeric
        Rate b_i of each stage. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the stages. [B/s]

    Notes
    -----
    Stages stream. Nothing that runs beside this job is in it.

    References
    ----------
    .. [1] Ghemawat, Gobioff and Leung, "The Google File System", SOSP 2003, section 6.1.
       https://research.google/pubs/the-google-file-system/
    """
    least = stages[0]
    for stage in stages[1:]:
        least = np.minimum(least, stage)
    return least


@closed_form
def transfer_time(
    size: Numeric, bandwidth: Numeric, efficiency: Numeric, files: Numeric, file_rate: Numeric
) -> Numeric:
    """Time to move bytes in files.

    t = S / (e b) + n / r

    Parameters
    ----------
    size : numeric
        Bytes S. [B]
    bandwidth : numeric
        Rate b. [B/s]
    efficiency : numeric
        Share e of it that is reached. [-]
    files : numeric
        Files n made or opened. [-]
    file_rate : numeric
        Files per second r. [1/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Metadata before data, no overlap: matters from about 1e5 files on.

    References
    ----------
    .. [1] Schwan, "Lustre: Building a File System for 1000-node Clusters", Linux Symposium 2003.
       https://www.kernel.org/doc/ols/2003/ols2003-pages-380-386.pdf
    """
    return size / (efficiency * bandwidth) + files / file_rate


@closed_form
def required_bandwidth(size: Numeric, interval: Numeric, share: Numeric) -> Numeric:
    """Rate at which bytes are moved in a share of the time between two such moves.

    b = S / (f t)

    Parameters
    ----------
    size : numeric
        Bytes S. [B]
    interval : numeric
        Time t from one move to the next. [s]
    share : numeric
        Share f of it that the move may take. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    In the field a save takes about 9 % of the interval.

    References
    ----------
    .. [1] VAST Data, telemetry of 85,000 checkpoints, PDSW 2025.
       https://sc25.conference-program.com/presentation/?id=ws_pdswwip108&sess=sess202
    """
    return size / (share * interval)


@closed_form
def kept_bytes(dataset: Numeric, kept: Numeric, size: Numeric) -> Numeric:
    """Bytes that a storage system holds at the end of a run.

    C = D + n S

    Parameters
    ----------
    dataset : numeric
        Data set D. [B]
    kept : numeric
        Checkpoints n that are kept. [-]
    size : numeric
        Bytes S of one. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Logs, code and images are not in it.

    References
    ----------
    .. [1] BigScience, "BLOOM training chronicles".
       https://github.com/bigscience-workshop/bigscience/blob/master/train/tr11-176B-ml/chronicles.md
    """
    return dataset + kept * size


@closed_form
def storage_cost(capacity: Numeric, price: Numeric, duration: Numeric) -> Numeric:
    """Cost of capacity over a time.

    c = C p t

    Parameters
    ----------
    capacity : numeric
        Capacity C. [B]
    price : numeric
        Price p. [USD/B/s]
    duration : numeric
        Time t. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [USD]

    Notes
    -----
    Requests, egress and replicas that are billed apart are not in it.

    References
    ----------
    .. [1] Amazon, "Amazon S3 pricing". https://aws.amazon.com/s3/pricing/
    """
    return capacity * price * duration
