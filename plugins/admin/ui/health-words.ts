interface CheckWords {
  /** What is looked at, as somebody says it who has not read the source. */
  title: string
  /** What it means where it is not fine, and what is safe. */
  meaning?: string
  /** How to do what the remedy says, or where to look. */
  way?: string
  /** A page of the console that tells more. */
  more?: { path: string; label: string }
}

const LOG = { path: "/admin/logs", label: "Open the log" }
const BACKUPS = { path: "/admin/backups", label: "Open the backups" }

/** By the names that `GET /admin/system/health` gives; one without words here is called by its name. */
export const HEALTH_WORDS: Readonly<Record<string, CheckWords>> = {
  catalog_write: {
    title: "Accounts and settings can be written",
    meaning: "What is stored is safe and reports work, but nobody can change anything or sign in.",
    more: LOG,
  },
  events_write: {
    title: "Events can be written",
    meaning: "What is recorded is safe and reports work, but new events are refused until this is put right.",
    more: LOG,
  },
  catalog_integrity: { title: "The store of accounts and settings is whole", more: BACKUPS },
  events_integrity: { title: "The store of events is whole", more: BACKUPS },
  wal_size: { title: "Logs of the stores", meaning: "Nothing is lost; the logs take room on the disk until then." },
  disk_free: {
    title: "Room on the disk",
    meaning: "When it is full, new events are refused; what is recorded stays safe.",
    more: { path: "/admin/storage", label: "See what takes it" },
  },
  clock_skew: {
    title: "Clock of this machine",
    meaning:
      "It was moved by more than a minute while Footfall ran. What came before is not lost, but events around the jump may be counted in the wrong hour or on the wrong day.",
    way: "On most Linux machines timedatectl set-ntp true does that; in a container it is the clock of the host that counts. This line goes away with the next start of Footfall.",
  },
  base_url: {
    title: "Address of this instance",
    meaning: "Links in mails and the snippets that people copy are built from it, and would lead elsewhere.",
  },
  tls: { title: "Encryption on the way", meaning: "What people type into the dashboard can be read on its way." },
  proxy_headers: {
    title: "Proxy in front",
    meaning: "Visitors may all seem to come from the proxy: then countries are wrong, and many visitors look like one.",
  },
  secret_key: { title: "Secret key", meaning: "Other users of this machine can read it." },
  sealed_values: {
    title: "Stored secrets can be opened",
    meaning: "They were written under another secret key: second factors, passwords of outside services or signing keys do not work.",
    more: { path: "/admin/settings", label: "Open the settings" },
  },
  backup_age: {
    title: "Latest backup",
    meaning: "What is in no backup exists once, on this disk.",
    more: BACKUPS,
  },
  backup_verified: { title: "Backups can be restored", more: BACKUPS },
  audit_chain: { title: "Audit log is unchanged" },
  schema: { title: "Stores are of this version" },
  job_lag: { title: "Jobs begin in time", more: { path: "/admin/jobs", label: "Open the jobs" } },
  ingest_lag: {
    title: "Packing of new events",
    meaning:
      "Events are safe on the disk as soon as they are accepted, and are packed for reports within a day. These have waited for longer: nothing is lost and every figure is right, but reports get slower and starting takes longer.",
    way: "Make sure that there is room on the disk, then start Footfall anew once. If the number goes on growing, the log says what fails.",
    more: LOG,
  },
  smtp: { title: "Mail server", more: { path: "/admin/settings", label: "Open the settings" } },
  outbound: { title: "Calls to the outside" },
  geo_database_age: { title: "Places of visitors" },
  timezone_data: { title: "Time zones" },
  states: { title: "Present state", more: LOG },
}
