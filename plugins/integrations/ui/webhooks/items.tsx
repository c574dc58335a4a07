/** What the list and the page of webhooks share. */
import { type AreaItems, agoText, areaQueries, visible } from "#plugin/ui"
import type { DeliveryResponse, WebhookResponse } from "../../webhooks/responses.ts"
import { integrationsAddress, sitePath, type Tone } from "../answers.ts"
import { StateText } from "../frame.tsx"

export const { useSiteQuery, useRefresh } = areaQueries("webhooks")

export const WEBHOOKS: AreaItems<WebhookResponse> = {
  path: "webhooks",
  noun: "webhook",
  plural: "webhooks",
  permission: "webhooks:write",
  nameOf: ({ url }) => url,
}

export const webhooksPath = (siteId: number): string => `${sitePath(siteId)}/webhooks`
export const webhooksAddress = (siteId: number): string => `${integrationsAddress(siteId)}/webhooks`

const DISABLED: Readonly<Record<NonNullable<WebhookResponse["disabled_reason"]>, string>> = {
  failing: "Disabled after five days without a success",
  gone: "Disabled because the receiver answered that it no longer exists",
  manual: "Turned off",
}

/** State of a webhook in words. */
export function WebhookState({ of: { enabled, disabled_reason, failing_since } }: { of: WebhookResponse }) {
  const [tone, text]: readonly [Tone, string] = !enabled
    ? [disabled_reason === "manual" ? "quiet" : "bad", DISABLED[disabled_reason ?? "manual"]]
    : failing_since === null
      ? ["good", "Active"]
      : ["warn", `Failing, first ${agoText(failing_since)}`]
  return <StateText tone={tone}>{text}</StateText>
}

export const DELIVERY_LABELS: Readonly<Record<DeliveryResponse["state"], string>> = {
  pending: "Waiting",
  delivered: "Delivered",
  failed: "Failed, will be retried",
  dead: "Failed permanently",
}
const DELIVERY_TONES: Readonly<Record<DeliveryResponse["state"], Tone>> = {
  pending: "quiet",
  delivered: "good",
  failed: "warn",
  dead: "bad",
}

/** State of a delivery in words. One that failed without a next attempt waits for a change of the URL or of a setting. */
export const DeliveryState = ({ of: { state, next_at } }: { of: Pick<DeliveryResponse, "state" | "next_at"> }) => (
  <StateText tone={DELIVERY_TONES[state]}>{state === "failed" && next_at === null ? "Stopped" : DELIVERY_LABELS[state]}</StateText>
)

const CAUSES: Readonly<Record<string, string>> = {
  blocked_address: "Address not allowed",
  event_expired: "Event no longer stored",
  invalid_certificate: "Invalid certificate",
  name_not_resolved: "Host name not found",
  not_connected: "No response",
  outbound_disabled: "Requests turned off",
  redirected: "Redirected",
  secret_unreadable: "URL can't be decrypted",
  timeout: "Timed out",
  too_large: "Response too large",
}

/** Returns the response to the last attempt in a few words: the status, or why there was none. */
export const responseText = ({ status, code }: Pick<DeliveryResponse, "status" | "code">): string =>
  status !== null ? String(status) : code === null ? "–" : (CAUSES[code] ?? visible(code))
