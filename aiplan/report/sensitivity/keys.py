"""Keys of the results that a what-if watches, where they stand as values and not as changes."""

VALUES = {
    "step_time": "step_time_s",
    "time_per_token": "time_per_token_s",
    "time_to_train": "time_to_train_s",
    "wall_clock": "wall_clock_s",
    "cost": "cost_usd",
    "energy": "energy_j",
    "memory": "memory_bytes_per_gpu",
    "memory_filled": "memory_filled",
}
