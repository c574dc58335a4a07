import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import {
  Button,
  Card,
  canOnSite,
  dayText,
  FilterBar,
  FilterRow,
  IgnoredAddressParts,
  locale,
  QueryResult,
  SelectField,
  useMe,
  useRangeQuery,
  useSiteAddress,
} from "#plugin/ui"
import type { ReportResponse } from "../report/responses.ts"
import type { SettingsResponse } from "../settings.ts"
import { revenueAddress, revenuePath, useRights, useSiteQuery } from "./answers.ts"
import { BreakdownCard, type GroupId, readGroup } from "./breakdown.tsx"
import { barsOf, RevenueChart } from "./chart.tsx"
import { CohortCard } from "./cohorts.tsx"
import { NoRevenue } from "./empty.tsx"
import { CurrencyTable, FigureStrip } from "./figures.tsx"
import { RevenuePage } from "./frame.tsx"
import { moneyText, unconvertedText } from "./money.ts"
import { ProductsCard } from "./products.tsx"

const EntryDialog = lazy(() => import("./entry-dialog.tsx"))

const MODELS = [
  { value: "", label: "Last touch" },
  { value: "last_touch_direct", label: "Last touch, direct included" },
  { value: "first_touch", label: "First touch" },
  { value: "linear", label: "Linear" },
]

/** What the page shows in addition to its period: stored in the URL, like the tabs of cards. */
const CHOICES = ["currency", "attribution", "trust", "basis", "group", "shown"] as const
type Choices = Partial<Record<(typeof CHOICES)[number], string>>

export function useChoices(): [Choices, (changes: Choices) => void] {
  const { address, go } = useSiteAddress()
  return [
    address.cards as Choices, // unknown names are ignored
    (changes) => {
      const next = Object.entries({ ...address.cards, ...changes }).filter(([, value]) => value !== "")
      go({ cards: Object.fromEntries(next) as Record<string, string> }, { replace: true })
    },
  ]
}

/** Page with what the traffic earned. */
export default function Report() {
  const { siteId } = useSiteAddress()
  const [choices, choose] = useChoices()
  const settings = useSiteQuery<SettingsResponse & { effective_currency?: string }>(siteId, "revenue/settings")
  const { interval } = useRangeQuery()
  const { writes } = useRights(siteId)
  const [isAdding, setAdding] = useState(false)
  const group = readGroup(choices.group)
  const own = new URLSearchParams({
    group_by: group,
    ...(choices.currency && { currency: choices.currency }),
    ...(choices.attribution && { attribution: choices.attribution }),
    ...(choices.trust && { trust: choices.trust }),
    ...(choices.basis && { refund_basis: choices.basis }),
  })
  const report = useSiteQuery<ReportResponse>(siteId, `revenue/report?${interval}&${own}`)
  const controls = (
    <Controls choices={choices} onChoose={choose} isVerifiedOnly={settings.data?.include_client === false} report={report.data} />
  )
  return (
    <RevenuePage
      siteId={siteId}
      title="Revenue"
      actions={
        writes && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add transaction
          </Button>
        )
      }
    >
      <FilterBar />
      <IgnoredAddressParts ownCards />
      {/* Without a report they can still be changed. */}
      {report.error && !report.data && controls}
      <QueryResult of={report} rows={12}>
        {(data) => (
          <div class="stack">
            {(data.currencies.length > 0 || CHOICES.some((name) => choices[name])) && controls}
            <Loaded
              siteId={siteId}
              report={data}
              group={group}
              csv={`${revenuePath(siteId)}/report.csv?${interval}&${own}`}
              choices={choices}
              onChoose={choose}
            />
          </div>
        )}
      </QueryResult>
      {isAdding && (
        <Suspense fallback={null}>
          <EntryDialog siteId={siteId} onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </RevenuePage>
  )
}

interface ControlsProps {
  choices: Choices
  onChoose(changes: Choices): void
  isVerifiedOnly: boolean
  report: ReportResponse | undefined
}

function Controls({ choices, onChoose, isVerifiedOnly, report }: ControlsProps) {
  const codes = [
    ...new Set([
      ...(report?.currencies.map(({ currency }) => currency) ?? []),
      ...(choices.currency?.length === 3 ? [choices.currency] : []),
    ]),
  ]
  return (
    <FilterRow label="Revenue">
      <SelectField
        label="Currency"
        value={choices.currency ?? ""}
        options={[
          { value: "", label: "Each on its own" },
          { value: "base", label: "In the base currency" },
          ...codes.map((code) => ({ value: code, label: `In ${code}` })),
        ]}
        onValue={(currency) => onChoose({ currency, shown: "" })}
      />
      <SelectField
        label="Attribution"
        value={choices.attribution ?? ""}
        options={MODELS}
        onValue={(attribution) => onChoose({ attribution })}
      />
      <SelectField
        label="Amounts"
        value={isVerifiedOnly ? "verified" : (choices.trust ?? "")}
        disabled={isVerifiedOnly}
        options={[
          { value: "", label: "All" },
          { value: "verified", label: "Verified only" },
        ]}
        onValue={(trust) => onChoose({ trust })}
      />
      <SelectField
        label="Book refunds"
        value={choices.basis ?? ""}
        options={[
          { value: "", label: "As in the settings" },
          { value: "refund_date", label: "On their own day" },
          { value: "order_date", label: "On the day of the order" },
        ]}
        onValue={(basis) => onChoose({ basis })}
      />
    </FilterRow>
  )
}

interface LoadedProps {
  siteId: number
  report: ReportResponse
  group: GroupId
  csv: string
  choices: Choices
  onChoose(changes: Choices): void
}

function Loaded({ siteId, report, group, csv, choices, onChoose }: LoadedProps) {
  const me = useMe()
  const names = report.base ? [report.base.currency] : report.currencies.map(({ currency }) => currency)
  const currency = names.find((name) => name === choices.shown) ?? names[0]
  if (currency === undefined) return <NoRevenue siteId={siteId} report={report} />
  const hasCurrencies = report.currencies.length > 1 || report.base !== undefined
  return (
    <div class="bands">
      <section class="instrument" aria-label="Revenue over time">
        {names.length > 1 && (
          <div class="revenue-currencies tabs" role="group" aria-label="Currency of the figures">
            {names.map((name) => (
              <button key={name} type="button" class="tab" aria-pressed={name === currency} onClick={() => onChoose({ shown: name })}>
                {name}
              </button>
            ))}
          </div>
        )}
        <FigureStrip report={report} currency={currency} />
        <RevenueChart bars={barsOf(report, currency)} interval={report.interval} isCompared={report.comparison !== undefined} />
        <Marks siteId={siteId} report={report} />
      </section>
      <Notices siteId={siteId} report={report} />
      {hasCurrencies && (
        <Card title="Currencies" full>
          <CurrencyTable report={report} />
        </Card>
      )}
      <BreakdownCard
        report={report}
        currency={currency}
        csv={canOnSite(me, siteId, "export:read") ? csv : undefined}
        group={group}
        onGroup={(chosen) => onChoose({ group: chosen === "source" ? "" : chosen })}
      />
      <ProductsCard siteId={siteId} currency={report.base ? undefined : currency} />
      <CohortCard siteId={siteId} currency={currency} own={choices} />
    </div>
  )
}

/** Marks next to the figures: what they include, and how they came about. */
function Marks({ siteId, report }: { siteId: number; report: ReportResponse }) {
  const { lookback, unattributed } = report.attribution
  const first = unattributed[0]
  return (
    <div class="trust-line">
      {report.unverified && (
        <Link
          class="badge"
          data-tone="warn"
          href={`${revenueAddress(siteId)}/settings`}
          title="Some amounts were reported by browsers or imports only."
        >
          Unverified
        </Link>
      )}
      {report.trust === "verified" && <span>Only amounts that a server or a payment provider confirmed are included.</span>}
      {report.recomputing && <span role="status">Attribution is being recomputed.</span>}
      {first && (
        <span>
          {moneyText(first.net)} {unattributed.length > 1 ? "and more " : ""}can’t be attributed to a visit.
        </span>
      )}
      <span>{lookbackText(lookback)}</span>
      {report.refund_basis === "order_date" && <span>Refunds are booked on the day of their order.</span>}
      {report.meta.notes
        .filter((note) => !note.startsWith("rate_missing"))
        .map((note) => (
          <span key={note}>{note}</span>
        ))}
    </div>
  )
}

const daysText = (days: number): string => (days === 1 ? "day" : `${days} days`)

/** Says which visits are credited, and why these are fewer than the settings ask for. */
function lookbackText({ asked, effective, reason }: ReportResponse["attribution"]["lookback"]): string {
  const text = `Visits in the ${daysText(effective)} before a sale are credited.`
  if (effective === asked) return text
  const why = reason === "expiring_device_ids" ? "device IDs expire" : "visitors aren’t recognized for longer"
  return `${text} The look-back is set to ${daysText(asked)}, but ${why}.`
}

/** Notice that names the amounts without an exchange rate, and the latest of their days. */
function Notices({ siteId, report }: { siteId: number; report: ReportResponse }) {
  const { base, meta } = report
  if (!base || base.complete) return null
  const days = [...new Set(meta.rate_missing?.days.map(({ day }) => day))]
  const named = days.slice(0, MAX_NAMED_DAYS).map((day) => dayText(day, { weekday: undefined, year: undefined }))
  const more = days.length - named.length
  const isCut = (meta.rate_missing?.total ?? 0) > (meta.rate_missing?.days.length ?? 0)
  const rest = isCut ? "many more days" : more === 1 ? "1 more day" : `${more} more days`
  const all = more > 0 ? [...named, rest] : named
  return (
    <p class="notice" data-kind="warn">
      <span>
        Not part of the total: {base.unconverted.map(unconvertedText).join("; ")}. There is no exchange rate to {base.currency} for{" "}
        {new Intl.ListFormat(locale()).format(all)}. <Link href={`${revenueAddress(siteId)}/rates`}>Add exchange rates</Link>
      </span>
    </p>
  )
}

const MAX_NAMED_DAYS = 3
