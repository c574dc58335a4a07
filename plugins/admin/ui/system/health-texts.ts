/** Texts of the health checks. They stand apart from the components because tests read them without a browser. */

interface CheckTexts {
  /** What is checked, in words that need no knowledge of the source. */
  title: string
  /** What a failed check means, and which data is safe. */
  meaning?: string
  /** How to carry out the remedy. */
  instructions?: string
  /** A page of the console with details. */
  more?: { path: string; label: string }
}

const LOG = { path: "/admin/logs", label: "Open the log" }
const BACKUPS = { path: "/admin/backups", label: "Open the backups" }

/** Texts by the check names of `GET /admin/system/health`. A check without an entry is shown by its name. */
export const CHECK_TEXTS: Readonly<Record<string, CheckTexts>> = {
  catalog_write: {
    title: "Catalog is writable",
    meaning: "Stored data is safe and reports work, but no one can sign in or change anything.",
    more: LOG,
  },
  events_write: {
    title: "Event store is writable",
    meaning: "Recorded data is safe and reports work, but new events are refused until this is fixed.",
    more: LOG,
  },
  catalog_integrity: { title: "Catalog integrity", more: BACKUPS },
  events_integrity: { title: "Event store integrity", more: BACKUPS },
  wal_size: { title: "Write-ahead logs", meaning: "No data is lost, but the logs take up disk space." },
  clickhouse: {
    title: "ClickHouse",
    meaning:
      "Events are still accepted while ClickHouse does not answer, but reports are not available and recent events exist only on this disk.",
    more: LOG,
  },
  clickhouse_privileges: { title: "Privileges on ClickHouse", meaning: "Some changes, such as erasures, fail until the user has them." },
  clickhouse_parts: {
    title: "Parts on ClickHouse",
    meaning: "No data is lost, but reports get slower. From 1,000 parts on, ClickHouse delays new events.",
  },
  nodes: {
    title: "Nodes",
    meaning: "The other nodes accept events and answer, but answers may lack recent events of this one.",
    more: LOG,
  },
  routing: {
    title: "Routing to nodes",
    meaning:
      "Requests of one visitor reach several nodes. Visitors, pageviews, events and revenue are right, but their visits are counted more than once, and bounces and durations are wrong.",
  },
  disk_free: {
    title: "Disk space",
    meaning: "When the disk is full, new events are refused. Recorded data stays safe.",
    more: { path: "/admin/storage", label: "Open storage" },
  },
  clock_skew: {
    title: "System clock",
    meaning:
      "The clock jumped by more than a minute while Footfall was running. No events are lost, but those around the jump may be counted in the wrong hour or on the wrong day.",
    instructions:
      "On most Linux machines, run timedatectl set-ntp true. In a container, set the clock of the host. This warning disappears after the next restart of Footfall.",
  },
  base_url: {
    title: "Base URL",
    meaning: "Links in emails and the tracking snippets are built from it, and would lead to the wrong place.",
  },
  tls: { title: "HTTPS", meaning: "Passwords and other data sent to the dashboard can be read in transit." },
  proxy_headers: {
    title: "Reverse proxy",
    meaning: "All visitors may appear to come from the proxy. Countries are wrong then, and many visitors are counted as one.",
  },
  secret_key: { title: "Secret key", meaning: "Other users of this machine can read the key file." },
  sealed_values: {
    title: "Secrets can be decrypted",
    meaning: "They were encrypted with another secret key, so second factors, passwords of external services or signing keys don't work.",
    more: { path: "/admin/settings", label: "Open the settings" },
  },
  backup_age: {
    title: "Latest backup",
    meaning: "Data that isn't in a backup exists only on this disk.",
    more: BACKUPS,
  },
  backup_verified: { title: "Backup verification", more: BACKUPS },
  audit_chain: { title: "Audit log integrity" },
  schema: { title: "Schema version" },
  job_lag: { title: "Job scheduling", more: { path: "/admin/jobs", label: "Open the jobs" } },
  ingest_lag: {
    title: "Sealing",
    meaning:
      "Accepted events are safe on disk at once and are normally sealed into compressed segments within a day. These have waited longer. No data is lost and all figures are right, but reports and restarts get slower.",
    instructions: "Make sure that there is free disk space, then restart Footfall. If the number keeps growing, the log shows the error.",
    more: LOG,
  },
  smtp: { title: "Mail server", more: { path: "/admin/settings", label: "Open the settings" } },
  outbound: { title: "Outgoing requests" },
  geo_database_age: { title: "Location database" },
  timezone_data: { title: "Time zone data" },
  states: { title: "Current state", more: LOG },
}
