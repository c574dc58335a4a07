/** Cards about things that have a page of their own: how many there are, and whether one needs attention. Each loads and fails alone. */
import type { UseQueryResult } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { Link } from "wouter"
import { areaQueries, counted, type PrivatePage, QueryResult, TimeAgo } from "#plugin/ui"
import type { AlertResponse } from "../../alerts/responses.ts"
import type { HookResponse } from "../../payments/responses.ts"
import type { ReportResponse } from "../../reports/responses.ts"
import type { WebhookResponse } from "../../webhooks/responses.ts"
import { integrationsAddress, type Tone, useSiteQuery } from "../answers.ts"
import { StateText } from "../frame.tsx"
import { PROVIDERS, stateOf } from "../payments/providers.ts"

/** What a card says about its things. */
interface Summary {
  tone: Tone
  text: string
  note?: ComponentChildren
}

interface SummaryCardProps<Thing> {
  href: string
  title: string
  /** What the things are for. */
  about: string
  of: UseQueryResult<PrivatePage<Thing>, Error>
  /** Describes the things. It is called only if there are some. */
  describe(things: readonly Thing[]): Summary
}

function SummaryCard<Thing>({ href, title, about, of, describe }: SummaryCardProps<Thing>) {
  return (
    <li class="source-card">
      <h3>
        <Link href={href}>{title}</Link>
      </h3>
      <QueryResult of={of} rows={2}>
        {({ data }) => {
          const { tone, text, note } = data.length === 0 ? { tone: "quiet" as const, text: "None yet", note: undefined } : describe(data)
          return (
            <>
              <StateText tone={tone}>{text}</StateText>
              {note && <p class="small">{note}</p>}
            </>
          )
        }}
      </QueryResult>
      <p class="small quiet">{about}</p>
    </li>
  )
}

const { useSiteQuery: useWebhookQuery } = areaQueries("webhooks")

export const WebhookSummary = ({ siteId }: { siteId: number }) => (
  <SummaryCard<WebhookResponse>
    href={`${integrationsAddress(siteId)}/webhooks`}
    title="Webhooks"
    about="Signed requests to your server when something happens."
    of={useWebhookQuery(siteId, "webhooks?limit=200")}
    describe={(webhooks) => {
      const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason === "failing" || disabled_reason === "gone").length
      const failing = webhooks.filter(({ enabled, failing_since }) => enabled && failing_since !== null).length
      if (disabled > 0) return { tone: "bad", text: `${counted(disabled, "webhook")} disabled after failures` }
      if (failing > 0) return { tone: "warn", text: `${counted(failing, "webhook")} failing` }
      return { tone: "good", text: counted(webhooks.length, "webhook") }
    }}
  />
)

const { useSiteQuery: useReportQuery } = areaQueries("reports")

export const ReportSummary = ({ siteId }: { siteId: number }) => (
  <SummaryCard<ReportResponse>
    href={`/sites/${siteId}/email-reports`}
    title="Email reports"
    about="Figures of the last day, week or month by email. Recipients don't need an account."
    of={useReportQuery(siteId, "reports?limit=200")}
    describe={(reports) => {
      const enabled = reports.filter((report) => report.enabled)
      const failed = enabled.flatMap(({ recipient_states }) => recipient_states).filter(({ state }) => state === "failed").length
      const next = enabled.flatMap(({ next_at }) => next_at ?? []).toSorted()[0]
      return {
        ...(failed > 0
          ? { tone: "warn", text: `${counted(failed, "recipient")} can't be reached` }
          : { tone: enabled.length > 0 ? "good" : "quiet", text: `${counted(enabled.length, "report")} turned on` }),
        note: next && (
          <>
            Next <TimeAgo at={next} />
          </>
        ),
      }
    }}
  />
)

const { useSiteQuery: useAlertQuery } = areaQueries("alerts")

export const AlertSummary = ({ siteId }: { siteId: number }) => (
  <SummaryCard<AlertResponse>
    href={`${integrationsAddress(siteId)}/alerts`}
    title="Alerts"
    about="Notifications when traffic is unusual, data stops arriving or a goal is reached."
    of={useAlertQuery(siteId, "alerts?limit=200")}
    describe={(alerts) => {
      const enabled = alerts.filter((alert) => alert.enabled)
      const firing = enabled.filter(({ state }) => state === "firing").length
      return firing > 0
        ? { tone: "bad", text: `${counted(firing, "alert")} firing` }
        : { tone: enabled.length > 0 ? "good" : "quiet", text: `${counted(enabled.length, "alert")} turned on` }
    }}
  />
)

export const PaymentSummary = ({ siteId }: { siteId: number }) => (
  <SummaryCard<HookResponse>
    href={`${integrationsAddress(siteId)}/payments`}
    title="Payment hooks"
    about="Sales and refunds, reported by payment providers and shops."
    of={useSiteQuery(siteId, "integrations/hooks?limit=200")}
    describe={(hooks) => {
      const lacking = hooks.find((hook) => stateOf(hook)[0] === "warn")
      const last = hooks
        .flatMap(({ last_event }) => last_event?.at ?? [])
        .toSorted()
        .at(-1)
      return {
        ...(lacking
          ? { tone: "warn", text: `${PROVIDERS[lacking.kind].label}: ${stateOf(lacking)[1].toLowerCase()}` }
          : { tone: "good", text: counted(hooks.length, "payment hook") }),
        note: last && (
          <>
            Last event <TimeAgo at={last} />
          </>
        ),
      }
    }}
  />
)
