import type { Dimension } from "../../../domain/dimension.ts"
import type { CampaignMatrix } from "../../../domain/insight.ts"
import { comparisonArguments, type FlatArguments, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { usePageChoices } from "../../browser/hooks.ts"
import { Card, Page } from "../../parts/page.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { RankedList, type RankedRow } from "../../report/cards/ranked-list.tsx"
import { MISSING } from "../../report/data/figures.ts"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { ImportMark } from "../../report/trust.tsx"
import { exact } from "../../text/format.ts"
import { LinkBuilder } from "./link-builder.tsx"
import { Matrix, useMatrix } from "./matrix.tsx"

interface TagTab {
  id: string
  label: string
  dimension: Dimension
}
const NAMES: readonly TagTab[] = [
  { id: "campaign", label: "Campaign", dimension: "utm_campaign" },
  { id: "term", label: "Term", dimension: "utm_term" },
  { id: "content", label: "Content", dimension: "utm_content" },
]
const SOURCES: readonly TagTab[] = [
  { id: "source", label: "Source", dimension: "utm_source" },
  { id: "medium", label: "Medium", dimension: "utm_medium" },
]

/** Shows the results of tagged links and the link builder. */
export default function CampaignsScreen() {
  const { data } = useMatrix()
  const total = (data as CampaignMatrix | undefined)?.total_rows // the result of the campaigns report
  return (
    <Page title="Campaigns">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <div class="bands" data-fits>
        <Matrix />
        {/* Without tagged visits the matrix says all there is to say. */}
        {total !== 0 && (
          <>
            <TagCard card="names" title="Campaigns" tabs={NAMES} />
            <TagCard card="ways" title="Source and medium" tabs={SOURCES} />
          </>
        )}
        <LinkBuilder />
      </div>
    </Page>
  )
}

const ROWS = 9
const METRICS = ["visitors", "conversions"]

/** Limits a report to visits that have the tag. */
const tagged = (address: SiteAddress, dimension: Dimension): FlatArguments => {
  const filters = [...address.filters, { dimension, operator: "is_not" as const, values: [MISSING] }]
  return { ...rangeArguments({ ...address, filters }), dimension }
}

/** Shows the top values of a tag. */
function TagCard({ card, title, tabs }: { card: string; title: string; tabs: readonly TagTab[] }) {
  const { siteId, address, searchWith } = useSiteAddress()
  const { of, choose } = usePageChoices()
  const { exportAddress } = useStatsSource()
  const { id, label, dimension } = tabs.find((tab) => tab.id === of(card)) ?? tabs[0]!
  const report = useReport("breakdown", { ...tagged(address, dimension), ...comparisonArguments(address), metrics: METRICS, limit: ROWS })
  return (
    <Card
      title={title}
      tabs={tabs}
      chosen={id}
      onChoose={(chosen) => choose({ [card]: chosen === tabs[0]!.id ? undefined : chosen }, { replace: true })}
      marks={<ImportMark of={report.data?.imports} />}
      foot={
        <>
          {exportAddress && (
            <a href={exportAddress("breakdown", tagged(address, dimension))} download>
              CSV
            </a>
          )}
          {report.data && <span>{exact(report.data.total_rows)} total</span>}
        </>
      }
    >
      <CardResult of={report}>
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyCard />
          ) : (
            <RankedList
              title={label}
              rows={rows as RankedRow[]}
              metrics={METRICS}
              isChosen={(value) => isFilteredBy(address.filters, dimension, value)}
              addressOf={(value) =>
                `/sites/${siteId}/campaigns${searchWith({ filters: toggledFilter(address.filters, { dimension }, value) })}`
              }
            />
          )
        }
      </CardResult>
    </Card>
  )
}
