/** What the configuration says of accounts, in the words of the services. */
import { availableParallelism, userInfo } from "node:os"
import type { Config } from "../../config/schema.ts"
import type { Actor } from "../domain/audit.ts"
import { readRoleMap } from "../domain/identity-provider.ts"
import type { AccountSettings } from "../services/accounts/accounts.ts"
import { OWN_PROVIDER } from "../services/oidc/providers.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { HashSettings } from "../services/sign-in/passwords.ts"

/** `baseUrl`: under which people reach the instance. Throws an `ExitFault` for a provider of identities that is named by half. */
export const accountSettings = (config: Config, baseUrl: string, hashing: Omit<HashSettings, "atOnce">): AccountSettings => ({
  hashes: {
    ...hashing,
    // A core is left to events, whoever signs in.
    atOnce: config.hash_concurrency ?? Math.min(4, Math.max(1, availableParallelism() - 1)),
  },
  signIn: {
    perMinute: config.signin_per_minute,
    failuresPerHour: config.signin_failures_per_hour,
    failuresBeforeDelay: config.signin_failures_before_delay,
    delaySeconds: config.signin_delay_seconds,
    maxDelaySeconds: config.signin_max_delay_seconds,
  },
  smtp: smtpSettings(config, baseUrl),
  oidc: oidcSettings(config),
})

/** Undefined without a provider of the whole instance. */
function oidcSettings(config: Config): AccountSettings["oidc"] {
  if (config.oidc_issuer === undefined) return undefined
  if (config.oidc_client_id === undefined) throw new ExitFault("configuration", "oidc_issuer: oidc_client_id is needed as well")
  const roleMap = readRoleMap(config.oidc_role_map ?? {})
  if (!roleMap) throw new ExitFault("configuration", 'oidc_role_map: must be like {"analysts": {"role": "viewer"}}')
  return {
    id: OWN_PROVIDER,
    organizationId: null,
    name: config.oidc_name,
    issuer: config.oidc_issuer,
    clientId: config.oidc_client_id,
    clientSecret: config.oidc_client_secret,
    scopes: config.oidc_scopes,
    allowedDomains: config.oidc_allowed_domains,
    jit: config.oidc_jit,
    roleMap,
    byOperator: true,
  }
}

/** Undefined without a mail server. */
export const smtpSettings = (config: Config, baseUrl: string): AccountSettings["smtp"] =>
  config.smtp_host === undefined
    ? undefined
    : {
        host: config.smtp_host,
        port: config.smtp_port ?? SMTP_PORTS[config.smtp_security],
        security: config.smtp_security,
        user: config.smtp_user,
        password: config.smtp_password,
        from: config.mail_from ?? `footfall@${new URL(baseUrl).hostname}`,
      }

const SMTP_PORTS = { none: 25, starttls: 587, tls: 465 } as const

/** Whoever may open the data folder, by the name the system has for them. */
export const operatorActor = (version: string): Actor => ({
  kind: "cli",
  email: systemUser(),
  ipPrefix: "",
  userAgent: `footfall ${version}`,
  requestId: Bun.randomUUIDv7(),
})

/** A container may run under a number that has no name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "unknown")
  }
}
