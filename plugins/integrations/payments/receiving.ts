/**
 * Receives the events of payment providers. An event is stored together with its payment objects in one transaction before it is
 * acknowledged, so a crash loses none, and a repeated event changes nothing.
 */
import { createHash } from "node:crypto"
import { AppError, type OwnStatements, PAYMENT_RECEIVED, type PaymentReceived, readBytes, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { integrationError } from "../errors.ts"
import { HOOK_KINDS, type HookEvent, type HookKind, LIMITS, type PaymentHook } from "./hook.ts"
import { hookNotFound, tokenHash } from "./hooks.ts"
import type { Mapped, MappedPayment } from "./mapping/mapped.ts"
import { eventIdIn, mapEvent, providerOf } from "./mapping/mapping.ts"
import { Unmappable } from "./mapping/reading.ts"
import { eventByExternalId, hookById, hookByToken, insertEvent, refundedSoFar, setBody } from "./rows.ts"
import { isSigned, messageId, type SignedRequest } from "./signatures.ts"

export type Outcome = Pick<HookEvent, "result" | "detail">

/** Receives an event. Throws `hook_not_found`, `body_too_large`, `invalid_signature`, `unavailable`. */
export type Receive = (kind: string, token: string, request: Request) => Promise<Outcome>

/** A hook that receives events, with its site and the secrets that are valid now. */
interface Target {
  hook: PaymentHook
  site: Site
  secrets: readonly string[]
}

/** A payment object that is ready to be published, with what it needs to be completed in the transaction. */
type Prepared = Pick<MappedPayment, "isCumulative"> & { payment: PaymentReceived }

/** What an event reports, before it is stored. */
interface Understood {
  externalId: string
  outcome: Outcome
  payments: readonly Prepared[]
}

/** WooCommerce sends this unsigned body when a webhook is saved, and expects 200. It reports nothing. */
const WOOCOMMERCE_TEST = /^webhook_id=\d{1,19}$/
const MAX_TEST_BYTES = 30

export function createReceiving(host: IntegrationsHost): Receive {
  const { db, now, random, services } = host
  // Requests to unknown addresses, and to hooks without a secret, are verified with this one, so that they take as long as others.
  const decoy = Buffer.from(random(32)).toString("base64")

  async function targetOf(kind: string, token: string): Promise<Target | undefined> {
    const hook = await hookByToken(db, tokenHash(token))
    const site = hook && services.sites.directory.byId(hook.site_id)
    const isReceiving = hook?.kind === kind && hook.enabled && site !== undefined
    const stored = isReceiving ? hook.secrets.filter(({ valid_until }) => valid_until === null || valid_until > now()) : [{ id: 0 }]
    const opened = await Promise.all(stored.map(({ id }) => host.secrets.open(id)))
    if (!isReceiving) return undefined
    return { hook, site, secrets: hook.secrets.length === 0 ? [decoy] : opened.filter((secret) => secret !== undefined) }
  }

  /** Reads an event and finds out what it reports. Nothing is stored yet. */
  async function understand({ hook: { kind }, site }: Target, request: SignedRequest): Promise<Understood> {
    const body = jsonIn(request.body)
    const signedId = kind === "payments-generic" ? messageId(request) : eventIdIn(kind, body)
    const externalId = signedId || createHash("sha256").update(request.body).digest("hex")
    const mapped = mappedOrFailed(kind, body)
    if (!("payments" in mapped)) return { externalId, outcome: mapped, payments: [] }
    const payments: Prepared[] = []
    for (const { payment, isCumulative = false, ...buyer } of mapped.payments) {
      const person = await personOf(site, buyer)
      payments.push({
        payment: { version: 1, provider: providerOf(kind), ...payment, ...(person !== undefined && { person }) },
        isCumulative,
      })
    }
    return { externalId, outcome: { result: "published", detail: "" }, payments }
  }

  /** Returns the key of a buyer, if the site recognizes people and knows this one. */
  async function personOf(site: Site, { userId, visitor }: Pick<MappedPayment, "userId" | "visitor">): Promise<string | undefined> {
    const { people } = services
    if (visitor !== undefined && (await people.numberOf(site.id, visitor)) !== undefined) return visitor
    if (userId === undefined || site.settings.identity_mode !== "identified") return undefined
    const [known] = await people.find(site, userId)
    return known === undefined ? undefined : (await people.pseudonymsOf(site, [known]))[0]
  }

  /** Stores an event and publishes its payments. Returns the outcome of the first event with this id. */
  const store = ({ hook, site }: Target, understood: Understood, body: Uint8Array): Promise<Outcome> =>
    db.transaction(async (statements) => {
      if (!(await hookById(statements, hook.id))) throw hookNotFound()
      const { externalId } = understood
      const known = await eventByExternalId(statements, hook.id, externalId)
      if (known) return { result: known.result, detail: known.detail }
      const { outcome, payments, refunded } = await withoutCounted(statements, hook.id, understood)
      const id = await insertEvent(statements, { hook_id: hook.id, external_id: externalId, received_at: now(), ...outcome, refunded })
      const place = { table: "integrations_hook_events", row: id, purpose: "body" }
      await setBody(statements, id, await host.secrets.put(statements, place, new TextDecoder().decode(body)))
      for (const { payment } of payments)
        await host.outbox.write(statements, {
          event: PAYMENT_RECEIVED,
          organizationId: site.organization_id,
          siteId: site.id,
          payload: payment,
        })
      return outcome
    })

  return async (kind, token, request) => {
    const target = await targetOf(kind, token)
    const body = await readBytes(request, LIMITS.bodyBytes).catch((error) => {
      throw target ? error : hookNotFound()
    })
    const signed = { headers: request.headers, body }
    const isValid = isSigned(target?.hook.kind ?? kindOf(kind), signed, target?.secrets ?? [decoy], now())
    if (!target) throw hookNotFound()
    if (target.secrets.length === 0) throw new AppError("unavailable", "The signing secret can't be decrypted. Enter it again.")
    if (!isValid && isTest(target.hook.kind, body)) return { result: "ignored", detail: "The event is a test." }
    if (!isValid)
      throw integrationError("invalid_signature", "The signature doesn't match the body, or its time is more than 5 minutes off.")
    return store(target, await understand(target, signed), body)
  }
}

/** Returns the kind by whose rules a request to an unknown address is verified. */
const kindOf = (kind: string): HookKind => HOOK_KINDS.find((known) => known === kind) ?? "stripe"

const isTest = (kind: HookKind, body: Uint8Array): boolean =>
  kind === "woocommerce" && body.length <= MAX_TEST_BYTES && WOOCOMMERCE_TEST.test(new TextDecoder().decode(body))

/** Parses a body. Returns undefined if it is not JSON. Numbers that would be rounded, such as long ids of Shopify, stay as they are written. */
function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body), exactly)
  } catch {
    return undefined
  }
}

const exactly = (_: string, value: unknown, context?: { source?: string }): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value

function mappedOrFailed(kind: HookKind, body: unknown): Extract<Mapped, { payments: unknown }> | Outcome {
  try {
    const mapped = mapEvent(kind, body)
    return "payments" in mapped ? mapped : { result: "ignored", detail: mapped.ignored }
  } catch (error) {
    if (!(error instanceof Unmappable)) throw error
    return { result: "failed", detail: error.message.slice(0, LIMITS.detailChars) }
  }
}

/**
 * Reduces a refund whose amount is the sum of all refunds of its sale to the part that was not reported yet. The first one has the id of
 * the sale, later ones also the sum.
 */
async function withoutCounted(statements: OwnStatements, hookId: number, { outcome, payments }: Understood) {
  const [only] = payments
  if (!only?.isCumulative) return { outcome, payments, refunded: undefined }
  const { external_id, amount_minor } = only.payment
  const refunded = { sale: external_id, amount: amount_minor }
  const counted = await refundedSoFar(statements, hookId, external_id)
  if (amount_minor <= counted)
    return { outcome: { result: "ignored", detail: "These refunds are already counted." } as const, payments: [], refunded }
  const id = counted === 0 ? external_id : `${external_id}:${amount_minor}`
  const part: PaymentReceived = { ...only.payment, external_id: id, amount_minor: amount_minor - counted }
  return { outcome, payments: [{ payment: part }], refunded }
}
