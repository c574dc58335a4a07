/** Maps the events of payment providers to payment objects. Pure: the same body always gives the same result. */
import { isObject, type PaymentReceived, readPayment } from "#plugin"
import { type HookKind, LIMITS } from "../hook.ts"
import { mapGeneric } from "./generic.ts"
import { mapLemonSqueezy } from "./lemonsqueezy.ts"
import type { Mapped } from "./mapped.ts"
import { mapPaddle } from "./paddle.ts"
import { type Json, textIn, Unmappable } from "./reading.ts"
import { mapShopify } from "./shopify.ts"
import { mapStripe } from "./stripe.ts"
import { mapWooCommerce } from "./woocommerce.ts"

const MAPPINGS: Readonly<Record<HookKind, (body: Json) => Mapped>> = {
  stripe: mapStripe,
  paddle: mapPaddle,
  lemonsqueezy: mapLemonSqueezy,
  woocommerce: mapWooCommerce,
  shopify: mapShopify,
  "payments-generic": mapGeneric,
}

/** Fields that contain the id of an event, for providers that sign one in the body. */
const EVENT_ID: Readonly<Partial<Record<HookKind, string>>> = { stripe: "id", paddle: "event_id" }

/** Returns the id of an event that is part of its signed body, if there is one. */
export function eventIdIn(kind: HookKind, body: unknown): string | undefined {
  const name = EVENT_ID[kind]
  const id = name !== undefined && isObject(body) ? textIn(body, name) : undefined
  return id !== undefined && id.length <= 200 ? id : undefined
}

export const providerOf = (kind: HookKind): PaymentReceived["provider"] => (kind === "payments-generic" ? "generic" : kind)

/** Maps an event. Throws `Unmappable` for one that reports a payment but does not make a valid payment object. */
export function mapEvent(kind: HookKind, body: unknown): Mapped {
  if (!isObject(body)) throw new Unmappable("The body is not a JSON object.")
  const mapped = MAPPINGS[kind](body)
  if ("ignored" in mapped) return mapped
  if (mapped.payments.length > LIMITS.paymentsPerEvent)
    throw new Unmappable(`The event reports more than ${LIMITS.paymentsPerEvent} payments.`)
  for (const { payment } of mapped.payments) refuseFaulty({ ...payment, version: 1, provider: providerOf(kind) })
  return mapped
}

function refuseFaulty(payment: PaymentReceived): void {
  const read = readPayment(payment)
  if ("faults" in read) throw new Unmappable(read.faults[0]!.detail) // a refusal has at least one fault
}
