import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import type { OwnFunnelResponse } from "../../../domain/funnel.ts"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { useInView } from "../../browser/hooks.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { ImportMark } from "../../report/trust.tsx"
import { exact, NO_VALUE, percent } from "../../text/format.ts"
import { TruncatedText, visible } from "../../text/safe-text.tsx"
import FunnelDialog from "./funnel-dialog.tsx"
import { useFunnels } from "./funnel-draft.ts"
import { FunnelPage } from "./funnel-page.tsx"

/** Lists the funnels of the site or shows the one that the URL names. */
export default function FunnelsScreen() {
  const { siteId, searchWith } = useSiteAddress()
  const { funnel: wanted } = useParams<{ funnel?: string }>()
  const funnels = useFunnels(siteId)
  const found = funnels.data?.find(({ id }) => String(id) === wanted)
  if (wanted === undefined) return <FunnelList funnels={funnels} />
  if (found) return <FunnelPage key={found.id} funnel={found} />
  return (
    <Page title="Funnel">
      <QueryResult of={funnels} rows={6}>
        {() => (
          <EmptyState action={<ButtonLink href={`/sites/${siteId}/funnels${searchWith({ cards: {} })}`}>All funnels</ButtonLink>}>
            This funnel doesn't exist or was deleted.
          </EmptyState>
        )}
      </QueryResult>
    </Page>
  )
}

function FunnelList({ funnels }: { funnels: ReturnType<typeof useFunnels> }) {
  const { can } = useStatsSource()
  const [isOpen, setOpen] = useState(false)
  const mayWrite = can("funnels:write")
  return (
    <Page
      title="Funnels"
      actions={
        mayWrite && (
          <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
            Add funnel
          </Button>
        )
      }
    >
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <QueryResult of={funnels} rows={6}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState
              action={
                mayWrite && (
                  <Button icon="plus" onClick={() => setOpen(true)}>
                    Add funnel
                  </Button>
                )
              }
            >
              No funnels yet. Funnels show where people drop off on the way to a goal.
            </EmptyState>
          ) : (
            <FunnelTable funnels={list} />
          )
        }
      </QueryResult>
      {isOpen && <FunnelDialog onClose={() => setOpen(false)} />}
    </Page>
  )
}

function FunnelTable({ funnels }: { funnels: readonly OwnFunnelResponse[] }) {
  const { address, siteId, searchWith } = useSiteAddress()
  // The imports of the range are the same in every funnel.
  const first = useReport("funnel", { funnel_id: funnels[0]?.id, ...rangeArguments(address) })
  return (
    <div class="stack">
      <ImportMark of={(first.data as FunnelInsight | undefined)?.imports} />
      <DataTable
        stacks
        caption="Funnels"
        rows={funnels}
        keyOf={({ id }) => id}
        columns={[
          {
            id: "name",
            label: "Funnel",
            cell: ({ id, name, steps }) => (
              <div class="goal-name">
                <Link href={`/sites/${siteId}/funnels/${id}${searchWith({ cards: {} })}`}>
                  <TruncatedText text={name} />
                </Link>
                <span class="small quiet">{steps.map((step) => visible(step.name)).join(" → ")}</span>
              </div>
            ),
          },
          { id: "entered", label: "Entered", number: true, cell: ({ id }) => <Result id={id} text={({ entered }) => exact(entered)} /> },
          {
            id: "completed",
            label: "Completed",
            number: true,
            cell: ({ id }) => <Result id={id} text={({ completed }) => exact(completed)} />,
          },
          {
            id: "rate",
            label: "Rate",
            number: true,
            cell: ({ id }) => <Result id={id} text={(found) => percent(found.conversion_rate)} />,
          },
        ]}
      />
    </div>
  )
}

/** Renders one figure of a funnel. The report is fetched once per row, when the row becomes visible. */
function Result({ id, text }: { id: number; text(funnel: FunnelInsight): string }) {
  const { address } = useSiteAddress()
  const { place, seen } = useInView<HTMLSpanElement>()
  const { data, error, isPlaceholderData } = useReport("funnel", { funnel_id: id, ...rangeArguments(address) }, { enabled: seen })
  return (
    <span ref={place} aria-busy={seen && !error && (data === undefined || isPlaceholderData)} title={error?.message}>
      {data ? text(data as FunnelInsight) : error ? NO_VALUE : ""}
    </span>
  )
}
