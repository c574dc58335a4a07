/** Cards about things that have a page of their own: how many there are, and whether one needs attention. Each loads and fails alone. */
import type { ComponentChildren } from "preact"
import { Link } from "wouter"
import { areaQueries, counted, type PrivatePage, QueryResult, TimeAgo } from "#plugin/ui"
import type { HookResponse } from "../../payments/responses.ts"
import type { WebhookResponse } from "../../webhooks/responses.ts"
import { integrationsAddress, type Tone, useSiteQuery } from "../answers.ts"
import { StateText } from "../frame.tsx"
import { PROVIDERS, stateOf } from "../payments/providers.ts"

interface SummaryProps {
  href: string
  title: string
  tone: Tone
  state: string
  children?: ComponentChildren
}

const Summary = ({ href, title, tone, state, children }: SummaryProps) => (
  <ul class="source-gallery">
    <li class="source-card">
      <h3>
        <Link href={href}>{title}</Link>
      </h3>
      <StateText tone={tone}>{state}</StateText>
      {children && <p class="small quiet">{children}</p>}
    </li>
  </ul>
)

const { useSiteQuery: useWebhookQuery } = areaQueries("webhooks")

export function WebhookSummary({ siteId }: { siteId: number }) {
  const list = useWebhookQuery<PrivatePage<WebhookResponse>>(siteId, "webhooks?limit=200")
  return (
    <QueryResult of={list} rows={2}>
      {({ data }) => {
        const disabled = data.filter(({ disabled_reason }) => disabled_reason === "failing" || disabled_reason === "gone").length
        const failing = data.filter(({ enabled, failing_since }) => enabled && failing_since !== null).length
        const [tone, state] =
          disabled > 0
            ? (["bad", `${counted(disabled, "webhook")} disabled after failures`] as const)
            : failing > 0
              ? (["warn", `${counted(failing, "webhook")} failing`] as const)
              : data.length > 0
                ? (["good", "All deliver"] as const)
                : (["quiet", "None yet"] as const)
        return (
          <Summary href={`${integrationsAddress(siteId)}/webhooks`} title={counted(data.length, "webhook")} tone={tone} state={state} />
        )
      }}
    </QueryResult>
  )
}

export function PaymentSummary({ siteId }: { siteId: number }) {
  const list = useSiteQuery<PrivatePage<HookResponse>>(siteId, "integrations/hooks?limit=200")
  return (
    <QueryResult of={list} rows={2}>
      {({ data }) => {
        const lacking = data.find((hook) => stateOf(hook)[0] === "warn")
        const [tone, state] = lacking
          ? (["warn", `${PROVIDERS[lacking.kind].label}: ${stateOf(lacking)[1].toLowerCase()}`] as const)
          : data.length > 0
            ? (["good", "No problem"] as const)
            : (["quiet", "None yet"] as const)
        const last = data
          .flatMap(({ last_event }) => (last_event ? [last_event.at] : []))
          .toSorted()
          .at(-1)
        return (
          <Summary href={`${integrationsAddress(siteId)}/payments`} title={counted(data.length, "payment hook")} tone={tone} state={state}>
            {last && (
              <>
                Last event <TimeAgo at={last} />
              </>
            )}
          </Summary>
        )
      }}
    </QueryResult>
  )
}
