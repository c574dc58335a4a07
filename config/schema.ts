import { instanceSetting } from "./instance.ts"
import {
  choice,
  cidrs,
  hosts,
  integer,
  origins,
  place,
  ports,
  route,
  type Setting,
  secret,
  table,
  text,
  timeOfDay,
  toggle,
  url,
} from "./kinds.ts"

/**
 * All settings of an instance. The key `base_url` is written `base_url` in the file, `FOOTFALL_BASE_URL` in the environment and
 * `--base-url` on the command line. Secrets are not accepted on the command line, where other users could read them.
 */
export const SETTINGS = {
  base_url: url(undefined, "Public URL of the instance. Links in emails, snippets and documents start with it."),
  host: text("0.0.0.0", "IP address to listen on."),
  port: integer(8080, { min: 0, max: 65_535 }, "Port to listen on. 0 chooses a free port."),
  data_dir: place("./data", "Folder of the stores, the secret key and the backups. Only one instance can use it at a time."),
  catalog_url: url(undefined, "URL of a libSQL server for the catalog. Default: the catalog is a file in the data folder.", [
    "libsql:",
    "https:",
    "http:",
    "wss:",
    "ws:",
  ]),
  catalog_auth_token: secret("Authentication token for the libSQL server of the catalog."),
  clickhouse_url: url(
    undefined,
    "URL of the HTTP interface of a ClickHouse server for the events. It requires `catalog_url`. Default: the events are in the data folder.",
  ),
  clickhouse_user: text("default", "User at the ClickHouse server."),
  clickhouse_password: secret("Password at the ClickHouse server. Default: none."),
  clickhouse_database: text("footfall", "Database on the ClickHouse server. It must exist, and belongs to one catalog."),
  clickhouse_backup: secret(
    "Where ClickHouse writes a daily backup, at `backup_time`: what follows `TO` in its `BACKUP` statement, with `{name}` for the name of the backup. Default: the operator backs it up.",
  ),
  rows_url: url(
    undefined,
    "URL of a libSQL server for the rows of plugins that grow with traffic, such as transactions. It requires `clickhouse_url`. Default: they are in the data folder.",
    ["libsql:", "https:", "http:", "wss:", "ws:"],
  ),
  rows_auth_token: secret("Authentication token for the libSQL server of the rows."),
  spool: toggle(
    true,
    "Whether events are accepted while ClickHouse does not confirm them. They are then only in the data folder, and are sent to it later.",
  ),
  spool_bytes: integer(
    20 * 2 ** 30,
    { min: 2 ** 20, max: 2 ** 50 },
    "Size in bytes of what ClickHouse has not confirmed, above which no events are accepted.",
  ),
  spool_keep: integer(48, { min: 1, max: 87_600 }, "How long the data folder keeps a copy of what ClickHouse has confirmed, in hours."),
  ack_wait: integer(
    2_000,
    { min: 100, max: 30_000 },
    "How long the answer to an event waits for the confirmation of ClickHouse, in milliseconds. Afterwards it relies on the data folder, or the event is refused without `spool`.",
  ),
  secret_key: secret(
    "Key that encrypts stored secrets: 32 random bytes in base64 or hex. Default: the file `secret.key` in the data folder.",
    "key",
  ),
  secret_key_previous: secret(
    "Previous secret key after a change. Everything it encrypted or signed remains valid. See `footfall secrets rotate`.",
    "key",
  ),
  trusted_proxies: cidrs(
    ["127.0.0.0/8", "::1/128"],
    "Trusted proxies, as CIDR ranges. Only their forwarded headers are used. `none` trusts no proxy.",
  ),
  geo_header: text(undefined, "Header in which a trusted proxy sends the visitor's country, such as `cf-ipcountry`."),
  geo_db: place(undefined, "Path of a city or country database (mmdb). It is reloaded when it changes."),
  collect_path: route("Additional path that accepts events."),
  script_path: route("Additional path that serves the tracker."),
  default_timezone: text("UTC", "Default time zone of new sites."),
  default_retention_days: integer(
    undefined,
    { min: 1, max: 3_650 },
    "Retention, in days, for sites without their own setting. Default: events are kept forever.",
  ),
  default_currency: text("USD", "Default revenue currency of new sites."),
  max_sites: integer(1_000, { min: 1, max: 1_000_000 }, "Maximum number of sites per organization."),
  allowed_hosts: hosts("Additional host names under which the dashboard is available, next to that of the base URL. Ports are ignored."),
  allow_insecure_http: toggle(false, "Whether people can sign in over plain HTTP from other machines. The dashboard then shows a warning."),
  admin_email: text(undefined, "Email address of the first user. When set, this user is created at the first start, without a browser."),
  admin_password: secret("Password of the first user."),
  hash_concurrency: integer(
    undefined,
    { min: 1, max: 64 },
    "Maximum number of concurrent password hashes, each of which uses 19 MiB and a core. Default: one less than the number of cores, at most 4.",
  ),
  signin_per_minute: integer(20, { min: 1, max: 1_000 }, "Maximum number of sign-in attempts per minute from one IP address."),
  signin_failures_per_hour: integer(50, { min: 1, max: 1_000 }, "Maximum number of failed sign-in attempts per hour from one IP address."),
  signin_failures_before_delay: integer(
    10,
    { min: 1, max: 1_000 },
    "Failed sign-in attempts for an account from one network within 15 minutes before further attempts are delayed.",
  ),
  signin_delay_seconds: integer(
    10,
    { min: 1, max: 900 },
    "Initial delay of sign-in attempts, in seconds. Each further failure doubles it.",
  ),
  signin_max_delay_seconds: integer(900, { min: 1, max: 86_400 }, "Maximum delay of sign-in attempts, in seconds."),
  smtp_host: text(
    undefined,
    "Mail server (SMTP). Without one, links are shown in the dashboard or printed by the command line instead of sent.",
  ),
  smtp_port: integer(undefined, { min: 1, max: 65_535 }, "Port of the mail server. Default: 587, 465 with `tls`, or 25 with `none`."),
  smtp_security: choice("starttls", ["starttls", "tls", "none"], "Encryption of the connection to the mail server."),
  smtp_user: text(undefined, "User name at the mail server. Default: no authentication."),
  smtp_password: secret("Password at the mail server."),
  smtp_reply_to: text(undefined, "Address for replies to emails. Default: the sender."),
  mail_from: text(undefined, "Sender of emails. Default: footfall@ and the host of the base URL."),
  oidc_issuer: url(undefined, "Issuer URL of the identity provider (OpenID Connect) for the whole instance."),
  oidc_client_id: text(undefined, "Client id of this instance at the identity provider."),
  oidc_client_secret: secret("Client secret at the identity provider. Default: none, PKCE only."),
  oidc_name: text("Single sign-on", "Label of the single sign-on button."),
  oidc_scopes: text("openid email profile", "Scopes requested from the identity provider."),
  oidc_jit: toggle(false, "Whether an account is created at the first sign-in of an unknown user, within `oidc_allowed_domains`."),
  oidc_allowed_domains: hosts("Email domains for which `oidc_jit` creates accounts. Only verified email addresses count."),
  oidc_role_map: table("Roles by group of the claim `groups`; `*` stands for all users. Applied at each sign-in, except to owners."),
  private_rate: integer(
    50,
    { min: 1, max: 100_000 },
    "Maximum number of requests per second and session to the private API. Bursts of ten times as many are allowed.",
  ),
  api_rate_limit: integer(
    600,
    { min: 0, max: 1_000_000 },
    "Maximum number of requests per minute and key to the public API. 0 means no limit.",
  ),
  api_cors_origins: origins("Origins whose pages can call the public API from a browser, such as https://tools.example."),
  mcp_allowed_origins: origins("Additional origins whose pages can use the MCP endpoint, next to the instance's own and loopback."),
  limit_visitor_events: integer(600, { min: 0, max: 1_000_000 }, "Maximum number of events per minute from one visitor. 0 means no limit."),
  limit_site_events: integer(
    1_000,
    { min: 0, max: 1_000_000 },
    "Maximum number of events per second for one site. Bursts of ten times as many are allowed. 0 means no limit.",
  ),
  limit_instance_events: integer(
    20_000,
    { min: 0, max: 10_000_000 },
    "Maximum number of events per second for the whole instance. 0 means no limit.",
  ),
  cache_mb: integer(
    undefined,
    { min: 8, max: 65_536 },
    "Memory for decoded columns, in MiB. Default: an eighth of the memory, 32 to 192 MiB.",
  ),
  tail_mb: integer(
    64,
    { min: 8, max: 65_536 },
    "Memory for events that are not in columnar segments yet, in MiB, in all threads together. Above it, visits that are still open move into segments too.",
  ),
  query_workers: integer(undefined, { min: 1, max: 64 }, "Number of threads that run queries. Default: one less than the number of cores."),
  backup_time: timeOfDay("03:00", "Time of the daily backup (UTC). `off` disables it."),
  backup_keep_daily: integer(7, { min: 1, max: 365 }, "Number of daily backups to keep."),
  backup_keep_weekly: integer(4, { min: 0, max: 520 }, "Number of weekly backups to keep in addition."),
  backup_s3_endpoint: url(undefined, "Endpoint of an S3-compatible server to which each backup is copied, without the bucket."),
  backup_s3_bucket: text(undefined, "Bucket for backups."),
  backup_s3_prefix: text("", "Prefix of object names in the bucket, such as footfall/."),
  backup_s3_region: text("us-east-1", "Region for signing S3 requests."),
  backup_s3_key_id: text(undefined, "Access key id for the S3 server."),
  backup_s3_secret: secret("Secret access key for the S3 server."),
  updates_url: url(undefined, "URL of a JSON document with the latest version. Only the current version is sent, as `?version=`."),
  updates_check: instanceSetting("updates_check"),
  outbound: choice(
    "on",
    ["on", "off"],
    "Whether outgoing requests are allowed. `off` blocks all except those to the mail server, to a catalog server and to ClickHouse.",
  ),
  outbound_ports: ports([80, 443, 8080, 8443], "Ports to which requests to user-supplied URLs are allowed."),
  allow_http_webhooks: toggle(false, "Whether requests to user-supplied URLs can use plain HTTP."),
  allow_private_webhooks: cidrs(
    [],
    "Private IP ranges to which requests to user-supplied URLs are allowed. `none` blocks all private ranges.",
  ),
  google_client_id: text(undefined, "Client id of this instance at Google. Without one, Google accounts are connected by service account."),
  google_client_secret: secret("Client secret of this instance at Google."),
  gsc_auth_url: url(undefined, "Address of the page on which people grant access to their Google accounts. Default: Google's."),
  gsc_token_url: url(undefined, "Address at which Google issues access tokens. Default: Google's."),
  gsc_revoke_url: url(undefined, "Address at which Google ends grants. Default: Google's."),
  registration: instanceSetting("registration"),
  organization_creation: instanceSetting("organization_creation"),
  require_mfa: instanceSetting("require_mfa"),
  sso_only: instanceSetting("sso_only"),
  session_idle_days: instanceSetting("session_idle_days"),
  session_absolute_days: instanceSetting("session_absolute_days"),
  key_default_days: instanceSetting("key_default_days"),
  key_max_days: instanceSetting("key_max_days"),
  default_identity_mode: instanceSetting("default_identity_mode"),
  default_respect_gpc: instanceSetting("default_respect_gpc"),
  store_user_ids_allowed: instanceSetting("store_user_ids_allowed"),
  public_links: instanceSetting("public_links"),
  share_min_group: instanceSetting("share_min_group"),
  impersonation: instanceSetting("impersonation"),
  impersonation_notify: instanceSetting("impersonation_notify"),
  server_name: text("footfall", "Server name that the instance reports to API and MCP clients."),
  hsts: toggle(true, "Whether to send the HSTS header when the base URL uses HTTPS. Turn it off if the proxy sends it."),
  log_level: choice("info", ["debug", "info", "warn", "error"], "Minimum log level."),
} as const satisfies Record<string, Setting<unknown>>

export type Key = keyof typeof SETTINGS
/** The validated settings of an instance. */
export type Config = { readonly [K in Key]: (typeof SETTINGS)[K] extends Setting<infer Value> ? Value : never } & {
  /** The validated sections of plugins, by plugin id. */
  readonly plugins: Readonly<Record<string, Record<string, unknown>>>
}

export const KEYS = Object.keys(SETTINGS) as Key[]
export const environmentName = (key: string): string => `FOOTFALL_${key.toUpperCase()}`
export const flagName = (key: string): string => `--${key.replaceAll("_", "-")}`
