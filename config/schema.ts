import { ofInstance } from "./instance.ts"
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
 * Every setting of an instance. A key is written `base_url` in the file, `FOOTFALL_BASE_URL` in the environment and
 * `--base-url` on the command line; secrets are not taken from the command line, where other users could read them.
 */
export const SETTINGS = {
  base_url: url(undefined, "Address under which people and pages reach the instance; links and documents are built from it."),
  host: text("0.0.0.0", "Network address to listen on."),
  port: integer(8080, { min: 0, max: 65_535 }, "Port to listen on; 0 takes a free one."),
  data_dir: place("./data", "Folder of the stores, the key and the backups; one instance at a time."),
  catalog_url: url(undefined, "Where the catalog lives instead of the data folder: a libSQL server.", [
    "libsql:",
    "https:",
    "http:",
    "wss:",
    "ws:",
  ]),
  catalog_auth_token: secret("Token for the libSQL server of the catalog."),
  secret_key: secret("32 bytes in base64 or hex that seal secrets at rest; without it `secret.key` in the data folder is used.", "key"),
  trusted_proxies: cidrs(["127.0.0.0/8", "::1/128"], "Proxies whose forwarded headers are believed; `none` for none."),
  geo_header: text(undefined, "Header in which a trusted proxy names the visitor's country, such as `cf-ipcountry`."),
  geo_db: place(undefined, "City or country database (mmdb) of your own; read again when it changes."),
  collect_path: route("Additional path of your choice that takes events."),
  script_path: route("Additional path of your choice that serves the tracker."),
  default_timezone: text("UTC", "Time zone of sites that name none."),
  default_retention_days: integer(
    undefined,
    { min: 1, max: 3_650 },
    "Days for which events of sites are kept that name none; absent: for ever.",
  ),
  default_currency: text("USD", "Revenue currency of sites that name none."),
  max_sites: integer(1_000, { min: 1, max: 1_000_000 }, "Sites that one organization may have."),
  allowed_hosts: hosts("Host names besides that of the base address under which the dashboard answers; ports do not count."),
  allow_insecure_http: toggle(false, "Let people sign in over plain HTTP from other machines; a banner then says so."),
  admin_email: text(undefined, "E-mail address of the first user, who is then made at the first start without a browser."),
  admin_password: secret("Password of the first user."),
  hash_concurrency: integer(
    undefined,
    { min: 1, max: 64 },
    "Passwords that are hashed at a time, each with 19 MiB and a core; absent: one fewer than cores, at most 4.",
  ),
  signin_per_minute: integer(20, { min: 1, max: 1_000 }, "Tries to sign in per minute from one address."),
  signin_failures_per_hour: integer(50, { min: 1, max: 1_000 }, "Failed tries per hour from one address."),
  signin_failures_before_delay: integer(
    10,
    { min: 1, max: 1_000 },
    "Failed tries for an account from one network within 15 minutes after which the next ones wait.",
  ),
  signin_delay_seconds: integer(10, { min: 1, max: 900 }, "The first wait, in seconds; each further failure doubles it."),
  signin_max_delay_seconds: integer(900, { min: 1, max: 86_400 }, "The longest wait, in seconds."),
  smtp_host: text(undefined, "Server that takes mails; without one links are shown instead, or given by the command line."),
  smtp_port: integer(undefined, { min: 1, max: 65_535 }, "Its port; absent: 587, 465 with `tls`, 25 with `none`."),
  smtp_security: choice("starttls", ["starttls", "tls", "none"], "How the way to it is kept from others' eyes."),
  smtp_user: text(undefined, "Name under which to sign in there; absent: without."),
  smtp_password: secret("Password for it."),
  mail_from: text(undefined, "Sender of mails; absent: footfall@ and the host of the base address."),
  oidc_issuer: url(undefined, "Identity provider (OpenID Connect) by which people can sign in, by its issuer."),
  oidc_client_id: text(undefined, "Name under which it knows this instance."),
  oidc_client_secret: secret("Secret for it; absent: none, with PKCE alone."),
  oidc_name: text("Single sign-on", "What the button says."),
  oidc_scopes: text("openid email profile", "What is asked of it."),
  oidc_jit: toggle(false, "Whether whoever comes from it for the first time becomes a user, within the domains below."),
  oidc_allowed_domains: hosts("Domains of verified addresses whose owners become users when they first come."),
  oidc_role_map: table("Roles by group of the claim `groups`, `*` for all; applied at each sign-in, never to owners."),
  private_rate: integer(
    50,
    { min: 1, max: 100_000 },
    "Requests per second of one session to the private API, bursts of ten times as many.",
  ),
  api_rate_limit: integer(600, { min: 0, max: 1_000_000 }, "Requests to the public API per minute and key; 0 = no limit."),
  api_cors_origins: origins("Pages of other origins that may call the public API from a browser, such as https://tools.example."),
  mcp_allowed_origins: origins("Origins besides the instance's own and loopback whose pages may speak to the MCP endpoint."),
  limit_visitor_events: integer(600, { min: 0, max: 1_000_000 }, "Events per minute from one visitor; 0 = no limit."),
  limit_site_events: integer(
    1_000,
    { min: 0, max: 1_000_000 },
    "Events per second of one site, bursts of ten times as many; 0 = no limit.",
  ),
  limit_instance_events: integer(20_000, { min: 0, max: 10_000_000 }, "Events per second of the whole instance; 0 = no limit."),
  cache_mb: integer(undefined, { min: 8, max: 65_536 }, "Memory for decoded columns; absent: an eighth of the memory, 32 to 192 MiB."),
  query_workers: integer(undefined, { min: 1, max: 64 }, "Threads that answer reports; absent: one fewer than cores."),
  backup_time: timeOfDay("03:00", "UTC time of the daily backup; `off` for none."),
  backup_keep_daily: integer(7, { min: 1, max: 365 }, "Daily backups to keep."),
  backup_keep_weekly: integer(4, { min: 0, max: 520 }, "Weekly backups to keep besides."),
  outbound: choice("on", ["on", "off"], "`off`: nothing is called outside but the mail server and a catalog on a server."),
  outbound_ports: ports([80, 443, 8080, 8443], "Ports on which addresses that people enter may be called."),
  allow_http_webhooks: toggle(false, "Let addresses that people enter be called over plain HTTP."),
  allow_private_webhooks: cidrs([], "Address ranges of your own network that such addresses may lie in; `none` for none."),
  registration: ofInstance("registration"),
  registration_domains: ofInstance("registration_domains"),
  organization_creation: ofInstance("organization_creation"),
  require_mfa: ofInstance("require_mfa"),
  session_idle_days: ofInstance("session_idle_days"),
  session_absolute_days: ofInstance("session_absolute_days"),
  key_default_days: ofInstance("key_default_days"),
  key_max_days: ofInstance("key_max_days"),
  public_links: ofInstance("public_links"),
  share_min_group: ofInstance("share_min_group"),
  impersonation: ofInstance("impersonation"),
  impersonation_notify: ofInstance("impersonation_notify"),
  server_name: text("footfall", "Name under which the instance speaks of itself to programs."),
  hsts: toggle(true, "Tell browsers to come back by https only, when the base address is https; 0 leaves that to the proxy."),
  log_level: choice("info", ["debug", "info", "warn", "error"], "Least important messages to log."),
} as const satisfies Record<string, Setting<unknown>>

export type Key = keyof typeof SETTINGS
/** The values of one instance, checked. */
export type Config = { readonly [K in Key]: (typeof SETTINGS)[K] extends Setting<infer Value> ? Value : never } & {
  /** The sections of plugins by their ids; checked as well. */
  readonly plugins: Readonly<Record<string, Record<string, unknown>>>
}

export const KEYS = Object.keys(SETTINGS) as Key[]
export const environmentName = (key: string): string => `FOOTFALL_${key.toUpperCase()}`
export const flagName = (key: string): string => `--${key.replaceAll("_", "-")}`
