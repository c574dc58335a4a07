/** Signs bodies as the payment providers do. Written from their documentation, independently of the code that verifies. */
import { createHmac } from "node:crypto"
import type { HookKind } from "../../payments/hook.ts"

export const SECRETS: Readonly<Record<HookKind, string>> = {
  stripe: "whsec_c3RyaXBlLXNlY3JldC1vZi10aGUtc2hvcA",
  paddle: "pdl_ntfset_01hv8x29c7tgmt3_JZKYmZIn2sHIcQoP",
  lemonsqueezy: "lemon-secret-4711",
  woocommerce: "woo>KW0x^!secret",
  shopify: "shpss_8f1f0a8e2b4dc7a9",
  "payments-generic": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
}

export interface Signing {
  secret?: string
  /** Epoch milliseconds. */
  at?: number
  id?: string
}

export const NOW = Date.parse("2026-11-26T12:00:00Z")

const hmac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text)

/** Returns the headers with which a provider sends a body. */
export function signatureOf(kind: HookKind, body: string, { secret = SECRETS[kind], at = NOW, id = "msg_1" }: Signing = {}) {
  const seconds = String(Math.floor(at / 1_000))
  const headers: Record<HookKind, () => Record<string, string>> = {
    stripe: () => ({ "stripe-signature": `t=${seconds},v1=${hmac(secret, `${seconds}.${body}`).digest("hex")},v0=6ffbb59b` }),
    paddle: () => ({ "paddle-signature": `ts=${seconds};h1=${hmac(secret, `${seconds}:${body}`).digest("hex")}` }),
    lemonsqueezy: () => ({ "x-signature": hmac(secret, body).digest("hex") }),
    woocommerce: () => ({ "x-wc-webhook-signature": hmac(secret, body).digest("base64") }),
    shopify: () => ({ "x-shopify-hmac-sha256": hmac(secret, body).digest("base64") }),
    "payments-generic": () => ({
      "webhook-id": id,
      "webhook-timestamp": seconds,
      "webhook-signature": `v1,${hmac(Buffer.from(secret.replace("whsec_", ""), "base64"), `${id}.${seconds}.${body}`).digest("base64")}`,
    }),
  }
  return headers[kind]()
}

const CREATED = 1_795_694_400 // 2026-11-26T12:00:00Z

/** An event of Stripe around an object. */
export const stripeEvent = (type: string, object: object, id = "evt_1") => ({
  ...{ id, object: "event", api_version: "2025-03-31.basil", created: CREATED, livemode: true, pending_webhooks: 1, type },
  request: { id: null, idempotency_key: null },
  data: { object },
})

export const PAYMENT_INTENT = {
  ...{ id: "pi_3Q1", object: "payment_intent", amount: 4900, amount_capturable: 0, amount_received: 4900, currency: "eur" },
  ...{ capture_method: "automatic", customer: "cus_9", latest_charge: "ch_3Q1", status: "succeeded", receipt_email: "jo@example.org" },
  metadata: { order_id: "A-1001", user_id: "user-7" },
}
