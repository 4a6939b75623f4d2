//! Workloads made by statistical models.
