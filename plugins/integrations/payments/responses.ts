/** Responses of the routes for payment hooks. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, instantOrNull, instantText, orNull, textOf, UPDATED_AT } from "#plugin"
import { ShownSecret } from "../webhooks/responses.ts"
import type { HookEvent, HookKind, HookResult, PaymentHook } from "./hook.ts"

const result = textOf<HookResult>({
  description: "`published` if payments were recorded, `ignored` if the event reports none, `failed` if it could not be understood.",
})

const FIELDS = {
  id: field.id("Id of the payment hook."),
  kind: textOf<HookKind>({ description: "Payment provider." }),
  enabled: field.flag("Whether events are received."),
  secret: ShownSecret,
  previous_secret_until: orNull(field.instant("End of the validity of the previous signing secret."), {
    description: "Time until which the previous signing secret is also valid. null if there is none.",
  }),
  last_event: orNull(
    t.Object({
      at: field.instant("Time of its arrival."),
      result,
      detail: field.text("Why the event was ignored or failed. Empty if it was published."),
    }),
    { description: "Last event that was received. null before the first, and after it was deleted." },
  ),
  created_by: orNull(t.Integer(), { description: "Id of the user who created the hook." }),
  version: field.id("Version of the hook, which increases with each change."),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
}
export const HookResponse = t.Object(FIELDS, { title: "PaymentHook" })
export type HookResponse = Static<typeof HookResponse>

export const HookWithUrl = t.Object(
  { ...FIELDS, url: field.text("URL to enter at the provider. It is shown only in this answer.") },
  { title: "PaymentHookWithUrl" },
)
export type HookWithUrl = Static<typeof HookWithUrl>

export const ReceivedResponse = t.Object(
  { result, detail: field.text("Why the event was ignored or failed. Empty if it was published.") },
  { title: "ReceivedPayment" },
)
export type ReceivedResponse = Static<typeof ReceivedResponse>

/** Returns the form of a hook in answers. */
export const hookResponse = (
  hook: PaymentHook,
  { secret, last, now }: { secret: Static<typeof ShownSecret>; last: HookEvent | undefined; now: number },
): HookResponse => ({
  ...{ id: hook.id, kind: hook.kind, enabled: hook.enabled, secret },
  previous_secret_until: instantOrNull(
    hook.secrets.find(({ valid_until }) => valid_until !== null && valid_until > now)?.valid_until ?? null,
  ),
  last_event: last ? { at: instantText(last.received_at), result: last.result, detail: last.detail } : null,
  ...{ created_by: hook.created_by, version: hook.version },
  ...{ created_at: instantText(hook.created_at), updated_at: instantText(hook.updated_at) },
})
