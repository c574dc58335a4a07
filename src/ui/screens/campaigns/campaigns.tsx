import type { Dimension } from "../../../domain/dimension.ts"
import { comparisonArguments, type FlatArguments, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { isFilteredBy, toggledFilter, useSiteAddress } from "../../address.ts"
import { exact } from "../../format.ts"
import { usePageChoices } from "../../page-choices.ts"
import { Card } from "../../parts/card.tsx"
import { Page } from "../../parts/page.tsx"
import { useStatsSource } from "../../stats/source.ts"
import { useReport } from "../../stats/use-report.ts"
import { MISSING } from "../../stats/value-text.ts"
import { CardAnswer } from "../dashboard/card-answer.tsx"
import EmptyCard from "../dashboard/empty-card.tsx"
import { FilterBar } from "../dashboard/filter-bar.tsx"
import { LeftOut } from "../dashboard/left-out.tsx"
import { RankedList, type RankedRow } from "../dashboard/ranked-list.tsx"
import { LinkBuilder } from "./link-builder.tsx"
import { Matrix } from "./matrix.tsx"

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
const WAYS: readonly TagTab[] = [
  { id: "source", label: "Source", dimension: "utm_source" },
  { id: "medium", label: "Medium", dimension: "utm_medium" },
]

/** What tagged links brought, and the tool that tags them. */
export default function CampaignsScreen() {
  return (
    <Page title="Campaigns">
      <FilterBar />
      <LeftOut ownCards />
      <div class="bands">
        <Matrix />
        <TagCard card="names" title="Campaigns" tabs={NAMES} />
        <TagCard card="ways" title="Ways" tabs={WAYS} />
        <LinkBuilder />
      </div>
    </Page>
  )
}

const ROWS = 9
const METRICS = ["visitors", "conversions"]

/** Visits that have the tag: those without are most of them, and come from no campaign. */
const tagged = (address: SiteAddress, dimension: Dimension): FlatArguments => {
  const filters = [...address.filters, { dimension, operator: "is_not" as const, values: [MISSING] }]
  return { ...rangeArguments({ ...address, filters }), dimension }
}

/** Top values of one tag. */
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
      foot={
        <>
          {exportAddress && (
            <a href={exportAddress("breakdown", tagged(address, dimension))} download>
              CSV
            </a>
          )}
          {report.data && <span>{exact(report.data.total_rows)} in all</span>}
        </>
      }
    >
      <CardAnswer of={report}>
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
      </CardAnswer>
    </Card>
  )
}
