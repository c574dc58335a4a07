import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { Link } from "wouter"
import type { ComparedBreakdown } from "../../../domain/insight.ts"
import { comparisonArguments, type FlatArguments, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { useSite } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { lazyPart, useTurns } from "../../parts/loading.ts"
import { Card } from "../../parts/page.tsx"
import { Skeleton } from "../../parts/states.tsx"
import { exact } from "../../text/format.ts"
import {
  ACT_TABS,
  type CardTab,
  DEVICE_TABS,
  detailsName,
  filtersAfter,
  isRowChosen,
  PAGE_TABS,
  PLACE_TABS,
  pageAddress,
  SOURCE_TABS,
} from "../data/card-tabs.ts"
import { rowMetrics, valueText } from "../data/figures.ts"
import { hasEarlierData } from "../data/ranges.ts"
import { usePrefetchedReports, useReport, useStatsSource } from "../data/reports.ts"
import { ImportMark } from "../trust.tsx"
import { CardResult, EmptyCard } from "./card-answer.tsx"
import { RankedList, type RankedRow, RowMenu } from "./ranked-list.tsx"

const BusyHours = lazyPart(() => import("./busy-hours.tsx"))
const WorldMap = lazyPart(() => import("./world-map.tsx"))

const MAP: NonNullable<BreakdownCardProps["drawn"]> = {
  tab: "map",
  draw: (rows, addressOf, list) => (
    <div class="map-and-list">
      <Suspense fallback={<Skeleton />}>
        <WorldMap rows={rows} addressOf={addressOf} />
      </Suspense>
      {list(rows.slice(0, ROWS))}
    </div>
  ),
}

interface BreakdownCardsProps {
  /** Whether to draw nothing yet, because the content above the cards does not have its final size. */
  isWaiting?: boolean
  /** Whether there is nothing to show, which is said once instead of in each card. */
  isEmpty?: boolean
}

/** The breakdown cards of a page in two columns. A shared view shows some of them. They are fetched in one request and drawn one after the other. */
export function BreakdownCards({ isWaiting = false, isEmpty = false }: BreakdownCardsProps) {
  const { address } = useSiteAddress()
  const { shows, siteId, can } = useStatsSource()
  const { data: site } = useSite(siteId)
  const hasHosts = site !== undefined && (site.hosts.length > 1 || site.hosts.some((host) => host.includes("*")))
  const all: readonly BreakdownCardProps[] = [
    { card: "sources", title: "Sources", tabs: SOURCE_TABS },
    { card: "pages", title: "Pages", tabs: hasHosts ? PAGE_TABS : PAGE_TABS.filter(({ id }) => id !== "hostname") },
    { card: "locations", title: "Locations", tabs: PLACE_TABS, drawn: MAP },
    { card: "devices", title: "Devices", tabs: DEVICE_TABS },
    { card: "acts", title: "Goals and events", tabs: ACT_TABS.filter(({ id }) => shows(id)), full: true },
  ]
  const cards = all.filter(({ card, tabs }) => (card === "acts" ? tabs.length > 0 : shows(card)))
  usePrefetchedReports(cards.map((card) => reportOfCard(card, address, can("revenue:read"))))
  const turns = useTurns(isWaiting ? 0 : cards.length + 1)
  if (isWaiting) return null
  if (isEmpty)
    return (
      <section class="card">
        <EmptyCard />
      </section>
    )
  return (
    <div class="bands" aria-busy={turns <= cards.length}>
      {cards.slice(0, turns).map((card) => (
        <BreakdownCard key={card.card} {...card} />
      ))}
      {turns > cards.length && shows("busy_hours") && (
        <Suspense fallback={<div aria-busy="true" />}>
          <BusyHours />
        </Suspense>
      )}
    </div>
  )
}

interface BreakdownCardProps {
  /** Name of the card in the URL. */
  card: string
  title: string
  tabs: readonly CardTab[]
  /** Whether it spans both columns, with room for more numbers. */
  full?: boolean
  /** A tab that is drawn in another form than a list, such as the map. */
  drawn?: {
    tab: string
    /** `list` draws rows as the other tabs do. */
    draw(
      rows: readonly RankedRow[],
      addressOf: ((value: string) => string) | undefined,
      list: (rows: readonly RankedRow[]) => ComponentChildren,
    ): ComponentChildren
  }
}

const ROWS = 9
/** Enough for all countries on the map. */
const MAX_ROWS = 100

/** Returns the range, filters and dimension of a tab's query. */
export const splitArguments = (address: SiteAddress, { dimension, property, also }: CardTab): FlatArguments => ({
  ...rangeArguments(
    also && !address.filters.some((one) => JSON.stringify(one) === JSON.stringify(also))
      ? { ...address, filters: [...address.filters, also] }
      : address,
  ),
  dimension,
  ...(property !== undefined && { property }),
})

/** Returns the tab that a card shows and the arguments of its query. */
function reportOfCard({ card, tabs, drawn }: BreakdownCardProps, address: SiteAddress, seesRevenue: boolean) {
  const tab = tabs.find(({ id }) => id === address.cards[card]) ?? tabs[0]!
  const isDrawn = drawn?.tab === tab.id
  const split = splitArguments(address, tab)
  const metrics = rowMetrics(address, tab.dimension, seesRevenue)
  const given = { ...split, ...comparisonArguments(address), metrics, limit: isDrawn ? MAX_ROWS : ROWS }
  return { tab, isDrawn, split, metrics, report: "breakdown" as const, given }
}

/** The top values of one dimension. A click on a row filters the whole page by it. */
function BreakdownCard(props: BreakdownCardProps) {
  const { card, title, tabs, full = false, drawn } = props
  const { base, address, searchWith, go } = useSiteAddress()
  const source = useStatsSource()
  const { data: site } = useSite(source.siteId)
  const { tab, isDrawn, split, metrics, given } = reportOfCard(props, address, source.can("revenue:read"))
  const report = useReport("breakdown", given)
  const choose = (id: string) => {
    const { [card]: _, ...others } = address.cards
    go({ cards: id === tabs[0]!.id ? others : { ...others, [card]: id } }, { replace: true })
  }
  const addressOf = source.filters
    ? (value: string) => `${base}${searchWith({ filters: filtersAfter(address.filters, tab, value) })}`
    : undefined
  return (
    <Card
      title={title}
      tabs={tabs.filter(({ under }) => under === undefined)}
      chosen={tab.under ?? tab.id}
      onChoose={choose}
      full={full || isDrawn}
      marks={<ImportMark of={report.data?.imports} />}
      foot={
        <>
          {source.siteId !== undefined && <Link href={`${base}/details/${detailsName(tab)}${searchWith({})}`}>Details</Link>}
          {source.exportAddress && (
            <a href={source.exportAddress("breakdown", split)} download>
              CSV
            </a>
          )}
          <VersionsButton tabs={tabs} tab={tab} onChoose={choose} />
          {report.data && <span>{exact(report.data.total_rows)} total</span>}
        </>
      }
    >
      <CardResult of={report} rows={full ? 5 : ROWS}>
        {(data) => {
          const list = (rows: readonly RankedRow[]) => (
            <RankedList
              title={tab.label === "Map" ? "Country" : tab.label}
              dimension={tab.dimension}
              rows={rows}
              metrics={metrics}
              currency={data.revenue_currency}
              compares={hasEarlierData(data as ComparedBreakdown, site)}
              isChosen={(value) => isRowChosen(address.filters, tab, value)}
              addressOf={addressOf}
              pageOf={(value) => pageAddress(tab, value, site?.hosts[0])}
              menuOf={({ value, label }) => <RowMenu tab={tab} value={value} label={label ?? value} />}
            />
          )
          const rows = rowsOf(data, tab)
          return rows.length === 0 ? <EmptyCard tab={tab} /> : drawn && isDrawn ? drawn.draw(rows, addressOf, list) : list(rows)
        }}
      </CardResult>
    </Card>
  )
}

/** Adds readable names to the rows. */
const rowsOf = ({ rows }: Pick<ComparedBreakdown, "rows">, { dimension }: CardTab): RankedRow[] =>
  rows.map((row) => ({ ...row, label: valueText(dimension, row.value, row.label) }) as RankedRow)

/** Button that switches between a dimension and its versions, such as browser and browser version. */
function VersionsButton({ tabs, tab, onChoose }: { tabs: readonly CardTab[]; tab: CardTab; onChoose(id: string): void }) {
  const finer = tabs.find(({ under }) => under === tab.id)
  if (!finer && tab.under === undefined) return null
  return (
    <button type="button" class="text-button" aria-pressed={!finer} onClick={() => onChoose(finer?.id ?? tab.under!)}>
      Versions
    </button>
  )
}
