import type { UseQueryResult } from "@tanstack/react-query"
import type { ComponentChildren, ComponentProps, ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { useLocation, useParams } from "wouter"
import { Problem } from "../api/api.ts"
import { areaQueries } from "../api/plugin-requests.ts"
import { canOnSite, useMe } from "../api/session.ts"
import { useSiteId } from "../browser/address.ts"
import { Button } from "../parts/button.tsx"
import { Card, Page } from "../parts/page.tsx"
import { EmptyState, NotFound, QueryResult } from "../parts/states.tsx"
import { DescriptionList } from "../parts/values.tsx"
import { CardResult, EmptyCard } from "../report/cards/card-answer.tsx"
import { CountRows } from "../report/count-rows.tsx"
import { CountChart, type CountSeries, useRangeQuery } from "../report/counts.tsx"
import { valueText } from "../report/data/figures.ts"
import { FilterBar, IgnoredAddressParts } from "../report/filters/filter-bar.tsx"
import { exact } from "../text/format.ts"
import { dimensionLabel } from "../text/labels.ts"
import { visible } from "../text/safe-text.tsx"
import { type AreaItem, type AreaItems, type AreaPath, capitalized, type EditorProps, ItemMenu } from "./items.tsx"

interface ItemPageProps<Item extends AreaItem> {
  of: AreaItems<Item>
  /** Heading of the page. Default: the name of the item. */
  titleOf?(item: Item): string
  Editor: ComponentType<EditorProps<Item>>
  /** Actions for all users. */
  actions?(item: Item): ComponentChildren
  /** Line below the heading: what the item is. */
  lead?(item: Item): ComponentChildren
  children(item: Item, siteId: number): ComponentChildren
}

/** Page of one item of an area, with its editor and its menu for users who can change it. */
export function ItemPage<Item extends AreaItem>({ of, titleOf = of.nameOf, Editor, actions, lead, children }: ItemPageProps<Item>) {
  const siteId = useSiteId()
  const id = useParams<Record<string, string>>()[of.noun] ?? ""
  const answer = areaQueries(of.path).useSiteQuery<Item>(siteId, `${of.path}/${encodeURIComponent(id)}`)
  const writes = canOnSite(useMe(), siteId, of.permission)
  const [isEditing, setEditing] = useState(false)
  const [, navigate] = useLocation()
  const item = answer.data
  const listAddress = `/sites/${siteId}/${of.path}`
  if (answer.error instanceof Problem && answer.error.status === 404) return <NotFound />
  return (
    <Page
      title={item ? visible(titleOf(item)) : capitalized(of.noun)}
      parent={{ href: listAddress, label: `All ${of.plural}` }}
      actions={
        item && (
          <>
            {actions?.(item)}
            {writes && (
              <>
                <Button icon="pencil" onClick={() => setEditing(true)}>
                  Edit
                </Button>
                <ItemMenu
                  of={of}
                  siteId={siteId}
                  item={item}
                  onEdit={() => setEditing(true)}
                  onDeleted={() => navigate(listAddress, { replace: true })}
                />
              </>
            )}
          </>
        )
      }
    >
      {lead && item && <div class="item-lead">{lead(item)}</div>}
      <QueryResult of={answer} rows={6}>
        {(one) => children(one, siteId)}
      </QueryResult>
      {isEditing && item && (
        <Suspense fallback={<div class="progress-line" />}>
          <Editor siteId={siteId} item={item} onClose={() => setEditing(false)} />
        </Suspense>
      )}
    </Page>
  )
}

/** Fetches the totals of an item and its counts over time, for the period of the page. `more` are further arguments of the totals. */
export function useItemReports<Stats>({ path }: AreaPath, siteId: number, id: number, more = "") {
  const { compared, interval } = useRangeQuery()
  const { useSiteQuery } = areaQueries(path)
  return {
    stats: useSiteQuery<Stats>(siteId, `${path}/${id}/stats?${compared}${more}`),
    series: useSiteQuery<CountSeries>(siteId, `${path}/${id}/timeseries?${interval}`),
  }
}

interface ItemReportsProps {
  /** Accessible name of the figures above the chart. */
  title: string
  counts: ComponentProps<typeof CountChart>["counts"]
  series: UseQueryResult<CountSeries, Error>
  /** Content below the chart. */
  note?: ComponentChildren
  /** Cards with what was counted. */
  children: ComponentChildren
  facts: ComponentProps<typeof DescriptionList>["of"]
  /** Cards beside them, before the facts. */
  side: ComponentChildren
  /** Cards below the facts. */
  last?: ComponentChildren
}

/** Content of an item's page: filters, counts over time, cards with the counts, and beside them what the item is. */
export const ItemReports = ({ facts, title, counts, series, note, children, side, last }: ItemReportsProps) => (
  <div class="stack">
    <FilterBar />
    <IgnoredAddressParts ownCards />
    <CardResult of={series} rows={12}>
      {(data) => <CountChart title={title} counts={counts} series={data} note={note} />}
    </CardResult>
    {/* Drawn once the chart has its height, so that nothing below it moves. */}
    {!series.isLoading && (
      <div class="item-bands">
        <div class="item-counts" data-fits>
          {counts.every(({ value }) => value === 0) ? (
            <section class="card">
              <EmptyCard />
            </section>
          ) : (
            children
          )}
        </div>
        <div class="item-side">
          {side}
          <Card title="Details">
            <DescriptionList of={facts} />
          </Card>
          {last}
        </div>
      </div>
    )}
  </div>
)

interface Breakdown {
  dimension: string
  rows: readonly ({ value: string; label?: string } & Record<string, unknown>)[]
  total_rows: number
  meta: { notes?: readonly string[] }
}

interface DimensionCardProps {
  of: AreaPath
  siteId: number
  id: number
  title: string
  /** Dimensions to choose from. */
  dimensions: readonly string[]
  /** Column headers by the name of the count in a row. */
  counts: Readonly<Record<string, string>>
  empty: string
  headOf?(dimension: string): string
  labelOf?(dimension: string, value: string, label?: string): string
}

/** Number of rows at first, and at most after *Show all*. */
const ROWS = 5
const MAX_ROWS = 100
const usualHead = (dimension: string): string => dimensionLabel(dimension as Parameters<typeof dimensionLabel>[0]) // others name themselves

/** Card with the counts of an item by one of several dimensions. */
export function DimensionCard({ of, siteId, id, title, dimensions, counts, empty, ...words }: DimensionCardProps) {
  const { headOf = usualHead, labelOf = valueText } = words
  const [wanted, setWanted] = useState(dimensions[0]!)
  // An edit of the item may have removed the chosen dimension.
  const chosen = dimensions.includes(wanted) ? wanted : dimensions[0]!
  const [showsAll, setShowsAll] = useState(false)
  const query = new URLSearchParams({ dimension: chosen, limit: String(showsAll ? MAX_ROWS : ROWS) })
  const breakdown = areaQueries(of.path).useSiteQuery<Breakdown>(siteId, `${of.path}/${id}/breakdown?${query}&${useRangeQuery().plain}`)
  const tabs = dimensions.length > 1 && {
    tabs: dimensions.map((dimension) => ({ id: dimension, label: headOf(dimension) })),
    chosen,
    onChoose: setWanted,
  }
  return (
    <Card title={title} {...tabs}>
      <CardResult of={breakdown} rows={ROWS}>
        {({ dimension, rows, total_rows, meta }) => (
          <>
            {rows.length === 0 ? (
              <EmptyState>{empty}</EmptyState>
            ) : (
              <CountRows
                title={headOf(dimension)}
                dimension={dimension}
                counts={counts}
                rows={rows.map((row) => ({ ...row, label: labelOf(dimension, row.value, row.label) }))}
              />
            )}
            {rows.length < Math.min(total_rows, MAX_ROWS) && (
              <p>
                <button type="button" class="text-button" onClick={() => setShowsAll(true)}>
                  {total_rows > MAX_ROWS ? `Show the first ${MAX_ROWS}` : `Show all ${exact(total_rows)}`}
                </button>
              </p>
            )}
            {meta.notes?.map((note) => (
              <p class="small quiet" key={note}>
                {visible(note)}
              </p>
            ))}
          </>
        )}
      </CardResult>
    </Card>
  )
}
