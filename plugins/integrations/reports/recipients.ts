import { createHash } from "node:crypto"
import { caseKey, mapConcurrent, type OwnStatements, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { LIMITS, type Recipient, type Report, stateOf } from "./report.ts"
import { deleteRecipient, insertRecipient, listRecipients, noteAsked, setToken, setUnsubscribed } from "./rows.ts"
import { titleOf } from "./wording.ts"

const TOKEN_BYTES = 32

/** Returns the hash by which a recipient is found. The token is random, so the hash needs no salt. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex")

export const unsubscribeUrl = (host: IntegrationsHost, token: string): string => `${host.baseUrl()}/unsubscribe/${token}`

/** The recipients of a report by the keys of their addresses, and the keys. */
export interface KnownRecipients {
  keyOf(address: string): string
  byKey: ReadonlyMap<string, Recipient>
}

export async function knownRecipients(
  host: IntegrationsHost,
  statements: OwnStatements,
  { id, site_id }: Pick<Report, "id" | "site_id">,
): Promise<KnownRecipients> {
  const keyOf = await keysOf(host, site_id)
  return { keyOf, byKey: new Map((await listRecipients(statements, id)).map((recipient) => [recipient.email_key, recipient])) }
}

/** Returns the function that hashes the addresses of a site. Call it before a transaction. */
export async function keysOf(host: IntegrationsHost, siteId: number): Promise<(address: string) => string> {
  const hash = await host.siteHash(siteId)
  return (address) => hash(`email ${caseKey(address)}`)
}

/** Returns the tokens of recipients by their ids. Secrets can't be read within a transaction. */
export async function openTokens(host: IntegrationsHost, recipients: Iterable<Recipient>): Promise<Map<number, string>> {
  const opened = await mapConcurrent([...recipients], 4, async ({ id, token_secret_id }) => {
    const token = token_secret_id === null ? undefined : await host.secrets.open(token_secret_id)
    return [id, token] as const
  })
  return new Map(opened.filter((one): one is readonly [number, string] => one[1] !== undefined))
}

export interface RecipientChange {
  site: Site
  report: Report
  /** Addresses before and after the change. */
  before: readonly string[]
  after: readonly string[]
  keyOf(address: string): string
  /** Tokens of the known recipients. */
  tokens: ReadonlyMap<number, string>
}

/**
 * Creates the recipients that a change adds, and deletes those that it removes. Unsubscribed people are kept: an edit can't add them
 * again, but sends them an email with a link by which they can do it themselves, at most once in 30 days.
 */
export async function changeRecipients(host: IntegrationsHost, statements: OwnStatements, change: RecipientChange): Promise<void> {
  const { report, keyOf } = change
  const [before, after] = [new Set(change.before.map(keyOf)), new Map(change.after.map((address) => [keyOf(address), address]))]
  const known = new Map((await listRecipients(statements, report.id)).map((recipient) => [recipient.email_key, recipient]))
  for (const [key, recipient] of known)
    if (!after.has(key) && recipient.unsubscribed_at === null) await dropRecipient(host, statements, recipient)
  for (const [key, address] of after) {
    const recipient = known.get(key)
    if (!recipient) await addRecipient(host, statements, { report_id: report.id, email_key: key })
    else if (!before.has(key) && recipient.unsubscribed_at !== null) await ask(host, statements, recipient, { ...change, address })
  }
}

async function addRecipient(
  host: IntegrationsHost,
  statements: OwnStatements,
  { report_id, email_key }: Pick<Recipient, "report_id" | "email_key">,
): Promise<void> {
  const token = Buffer.from(host.random(TOKEN_BYTES)).toString("base64url")
  const id = await insertRecipient(statements, { report_id, email_key, token_hash: tokenHash(token) })
  const place = { table: "integrations_recipients", row: id, purpose: "token" }
  await setToken(statements, id, await host.secrets.put(statements, place, token))
}

export async function dropRecipient(
  host: IntegrationsHost,
  statements: OwnStatements,
  { id, token_secret_id }: Pick<Recipient, "id" | "token_secret_id">,
): Promise<void> {
  await deleteRecipient(statements, id)
  if (token_secret_id !== null) await host.secrets.remove(statements, token_secret_id)
}

async function ask(
  host: IntegrationsHost,
  statements: OwnStatements,
  { id, asked_at }: Recipient,
  { site, report, address, tokens }: RecipientChange & { address: string },
): Promise<void> {
  const token = tokens.get(id)
  if (token === undefined || (asked_at !== null && host.now() - asked_at < LIMITS.askMs)) return
  const title = titleOf(report.kind, site.name)
  const text = [
    `You unsubscribed from this report: ${title}. Someone has added your address again. You won't receive the report unless you confirm.`,
    `Open this link and choose Subscribe to receive the report again:\n${unsubscribeUrl(host, token)}`,
    "If you don't want the report, you can ignore this email. It is sent at most once in 30 days.",
  ]
  await host.mail.post(statements, { to: address, subject: `Confirm your subscription: ${title}`, text: text.join("\n\n") })
  await noteAsked(statements, id, host.now())
}

/** Unsubscribes a person, or subscribes them again, with an audit entry that does not name them. */
export async function setSubscription(
  host: IntegrationsHost,
  statements: OwnStatements,
  { recipient, report, site }: { recipient: Recipient; report: Report; site: Site },
  wanted: boolean,
): Promise<void> {
  if ((recipient.unsubscribed_at === null) === wanted) return
  await setUnsubscribed(statements, recipient.id, wanted ? null : host.now())
  await host.audit.write(statements, host.audit.system, {
    action: `integrations.report.${wanted ? "resubscribe" : "unsubscribe"}`,
    target: { type: "report", id: report.id, label: titleOf(report.kind, site.name) },
    organizationId: site.organization_id,
    siteId: site.id,
    changes: { recipient: [stateOf(recipient), wanted ? "active" : "unsubscribed"] },
  })
}
