/** Converts the configuration of accounts to the options of the services. */
import { availableParallelism, userInfo } from "node:os"
import type { Config } from "../../config/schema.ts"
import type { Actor } from "../domain/audit.ts"
import { readRoleMap } from "../domain/identity-provider.ts"
import type { AccountSettings } from "../services/accounts/accounts.ts"
import { OWN_PROVIDER } from "../services/oidc/providers.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { HashSettings } from "../services/sign-in/passwords.ts"

/** Returns the account settings. `baseUrl` is the instance's public URL. Throws `ExitFault` for an incomplete identity provider. */
export const accountSettings = (config: Config, baseUrl: string, hashing: Omit<HashSettings, "atOnce">): AccountSettings => ({
  hashes: {
    ...hashing,
    // One core stays free for events, however many people sign in.
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

/** Returns the identity provider of the whole instance, or undefined when none is configured. */
function oidcSettings(config: Config): AccountSettings["oidc"] {
  if (config.oidc_issuer === undefined) return undefined
  if (config.oidc_client_id === undefined) throw new ExitFault("configuration", "oidc_issuer also requires oidc_client_id")
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

/** Returns the settings of the mail server, or undefined when none is configured. */
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
        replyTo: config.smtp_reply_to,
      }

const SMTP_PORTS = { none: 25, starttls: 587, tls: 465 } as const

/** Returns the actor of commands: the operating system's user, who has access to the data folder. */
export const operatorActor = (version: string): Actor => ({
  kind: "cli",
  email: systemUser(),
  ipPrefix: "",
  userAgent: `footfall ${version}`,
  requestId: Bun.randomUUIDv7(),
})

/** Returns the name of the operating system's user, or the number when it has no name, as in some containers. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "unknown")
  }
}
