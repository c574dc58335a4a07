import { comparisonArguments, rangeArguments } from "../../../domain/site-address.ts"
import type { OwnSiteResponse } from "../../../domain/site-response.ts"
import type { WebVitals } from "../../../domain/web-vitals.ts"
import { useSite } from "../../api/session.ts"
import { isFiltered, useSiteAddress } from "../../browser/address.ts"
import { CopyButton } from "../../parts/copy.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { QueryResult } from "../../parts/states.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { useReport } from "../../report/data/reports.ts"
import { WEB_VITAL_NAMES, WEB_VITALS, type WebVital, webVitalText } from "../../report/data/web-vitals.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { counted } from "../../text/format.ts"
import { Rated, RatingKey } from "./rating.tsx"
import { VitalsCard } from "./vitals-card.tsx"

/** Shows how fast pages load and respond: each web vital at the 75th percentile, in total and by page, device and country. */
export default function WebVitalsScreen() {
  const { address } = useSiteAddress()
  const report = useReport("web-vitals", { ...rangeArguments(address), ...comparisonArguments(address) })
  const vitals = report.data as WebVitals | undefined
  const isEmpty = vitals?.measured_loads === 0
  return (
    <Page title="Web vitals">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      {isEmpty && !report.isPlaceholderData ? (
        <Card title="Measured page loads" full>
          {isFiltered(address) ? <EmptyCard /> : <Install />}
        </Card>
      ) : (
        <div class="bands" data-fits>
          <section class="instrument vitals-totals" aria-label="75th percentiles">
            <QueryResult of={report} rows={3}>
              {(data) => <Totals of={data as WebVitals} />}
            </QueryResult>
          </section>
          {CARDS.map((card) => (
            <VitalsCard key={card.dimension} {...card} />
          ))}
        </div>
      )}
    </Page>
  )
}

const CARDS = [
  { title: "Pages", dimension: "page" },
  { title: "Devices", dimension: "device" },
  { title: "Countries", dimension: "country" },
] as const

function Totals({ of: { metrics, measured_loads: loads, comparison } }: { of: WebVitals }) {
  return (
    <>
      <dl class="strip">
        {WEB_VITAL_NAMES.map((name) => (
          <div key={name} class="figure">
            <dt class="figure-label" title={WEB_VITALS[name].label}>
              {WEB_VITALS[name].label}
            </dt>
            <dd>
              <Figure name={name} value={metrics[name]} before={comparison?.metrics[name]} />
            </dd>
          </div>
        ))}
      </dl>
      <div class="chart-foot">
        <span>75th percentile of {counted(loads, "measured page load")}</span>
        <RatingKey />
      </div>
    </>
  )
}

function Figure({ name, value, before }: { name: WebVital; value: number | undefined; before: number | undefined }) {
  if (value === undefined)
    return (
      <>
        <span class="figure-value">{webVitalText(name, undefined)}</span>
        <span class="figure-note">Not measured</span>
      </>
    )
  return (
    <>
      <span class="figure-value">{webVitalText(name, value)}</span>
      <span class="figure-note">
        <Rated name={name} value={value} inWords />
      </span>
      <span class="small quiet">
        {before === undefined ? `Good up to ${webVitalText(name, WEB_VITALS[name].good)}` : `${webVitalText(name, before)} before`}
      </span>
    </>
  )
}

/** Explains how to measure web vitals, with the snippet to copy. */
function Install() {
  const { siteId } = useSiteAddress()
  const site = useSite(siteId)
  return (
    <QueryResult of={site} rows={3}>
      {(data) => {
        // The private API returns the snippet with the site.
        const { snippet } = data as unknown as OwnSiteResponse
        const text = snippet.replace("<script defer ", "<script defer data-vitals ")
        return (
          <div class="stack">
            <p class="quiet">
              No page loads were measured in this period. Add <code>data-vitals</code> to the snippet on your pages to measure how fast they
              load and respond.
            </p>
            <pre>{text}</pre>
            <div class="row">
              <CopyButton text={text} />
            </div>
          </div>
        )
      }}
    </QueryResult>
  )
}
