import type { SessionCookie } from "../http/private/session-cookie.ts"
import { sessionCookie } from "../http/private/session-cookie.ts"
import type { Instance } from "../services/instance/instance.ts"
import { limitsInForce } from "./limits.ts"
import { type AppOptions, scriptUrlOf, siteDefaults } from "./settings.ts"

/** Returns whether cookies are sent over HTTPS only. */
export const isSecure = ({ config }: Pick<AppOptions, "config">): boolean => config.base_url?.startsWith("https:") ?? false

/** Creates the session cookie, signed with the secrets of the instance. */
export const cookieOf = (options: AppOptions, { cookieSecrets }: Instance): SessionCookie =>
  sessionCookie({ secrets: cookieSecrets, secure: isSecure(options), allowInsecure: options.config.allow_insecure_http })

/** Returns the options of authorization that come from the settings and from the services of the instance. */
export const authorizeOptions = ({ config, clock }: AppOptions, instance: Instance) => ({
  now: clock.now,
  isSetUp: instance.accounts.users.isSetUp,
  sessions: instance.sessions,
  access: instance.access,
  secondFactors: instance.accounts.secondFactors,
  maintenance: instance.maintenance.current,
  isOn: instance.plugins.isOn,
  privateRate: config.private_rate,
})

/** Returns the options of the web server that come from the settings and from the services of the instance. */
export const serverOptions = ({ config, clock, log, version }: AppOptions, instance: Instance, baseUrl: () => string) => ({
  isSecure: isSecure({ config }),
  ...instance.accounts,
  isSetUp: instance.accounts.users.isSetUp,
  health: instance.health,
  keys: instance.keys,
  sites: instance.sites,
  goals: instance.goals,
  funnels: instance.funnels,
  annotations: instance.annotations,
  organizations: instance.organizations,
  idempotency: instance.idempotency,
  audit: instance.audit,
  sessions: instance.sessions,
  access: instance.access,
  maintenance: instance.maintenance.current,
  isOn: instance.plugins.isOn,
  features: instance.plugins.features,
  firstAt: (siteId: number) => instance.imports.firstAt(siteId),
  now: clock.now,
  log,
  version,
  baseUrl: config.base_url ?? "",
  hsts: config.hsts,
  collectPath: config.collect_path,
  scriptPath: config.script_path,
  scriptUrl: () => scriptUrlOf(config, baseUrl()),
  serverName: config.server_name,
  siteDefaults: siteDefaults(config),
  privateRate: config.private_rate,
  limits: limitsInForce(config),
  allowedHosts: config.allowed_hosts,
  apiRateLimit: config.api_rate_limit,
  nodes: instance.nodes,
  corsOrigins: config.api_cors_origins,
  mcpAllowedOrigins: config.mcp_allowed_origins,
})
