import { useState } from "preact/hooks"
import { Link, useLocation } from "wouter"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { comparisonArguments, rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { remove } from "../../api.ts"
import { exact, percent } from "../../format.ts"
import { usePageChoices } from "../../page-choices.ts"
import { Button } from "../../parts/button.tsx"
import { Card } from "../../parts/card.tsx"
import { Change } from "../../parts/change.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { useStatsSource } from "../../stats/source.ts"
import { useReport } from "../../stats/use-report.ts"
import { CardAnswer } from "../dashboard/card-answer.tsx"
import { FilterBar } from "../dashboard/filter-bar.tsx"
import { LeftOut } from "../dashboard/left-out.tsx"
import { FunnelBars, FunnelTable } from "./funnel-bars.tsx"
import FunnelDialog, { ORDER_WORDS } from "./funnel-dialog.tsx"
import type { FunnelShown } from "./funnel-draft.ts"
import { FunnelSplit, SplitField, splitOf } from "./funnel-split.tsx"
import { funnelsPath, useRefreshFunnels } from "./funnels-of-site.ts"

/** A saved funnel: its steps, compared and split. */
export function FunnelPage({ funnel }: { funnel: FunnelShown }) {
  const { siteId, searchWith } = useSiteAddress()
  const { can } = useStatsSource()
  const [open, setOpen] = useState<"edit" | "delete">()
  const close = () => setOpen(undefined)
  return (
    <Page
      title={visible(funnel.name)}
      actions={
        can("funnels:write") && (
          <>
            <Button icon="pencil" onClick={() => setOpen("edit")}>
              Edit
            </Button>
            <Button kind="danger" icon="trash" onClick={() => setOpen("delete")}>
              Delete
            </Button>
          </>
        )
      }
    >
      <p>
        <Link href={`/sites/${siteId}/funnels${searchWith({ cards: {} })}`}>All funnels</Link>
      </p>
      <FilterBar />
      <LeftOut ownCards />
      <Report funnel={funnel} />
      {open === "edit" && <FunnelDialog funnel={funnel} onClose={close} />}
      {open === "delete" && <DeleteFunnel funnel={funnel} onClose={close} />}
    </Page>
  )
}

function Report({ funnel }: { funnel: FunnelShown }) {
  const { address } = useSiteAddress()
  const { of, choose } = usePageChoices()
  const split = splitOf(of("split"))
  const asTable = of("view") === "table"
  const report = useReport("funnel", {
    funnel_id: funnel.id,
    ...rangeArguments(address),
    ...comparisonArguments(address),
    ...(split && { breakdown: split }),
  })
  return (
    <div class="stack">
      <Card
        title="Steps"
        full
        marks={
          <span class="small quiet">
            {ORDER_WORDS[funnel.order]}
            {funnel.window_hours !== null && `, within ${funnel.window_hours} h`}
          </span>
        }
        foot={
          <button
            type="button"
            class="text-button"
            aria-pressed={asTable}
            onClick={() => choose({ view: asTable ? undefined : "table" }, { replace: true })}
          >
            {asTable ? "Show as bars" : "Show as table"}
          </button>
        }
      >
        <CardAnswer of={report} rows={6}>
          {(data) => {
            const found = data as FunnelInsight // the report of this name
            return (
              <>
                <Result funnel={found} />
                {found.entered === 0 && <EmptyState>Nobody took the first step in this period.</EmptyState>}
                {asTable ? <FunnelTable funnel={found} /> : <FunnelBars funnel={found} />}
              </>
            )
          }}
        </CardAnswer>
      </Card>
      <Card title="Split" full>
        <div class="split-field">
          <SplitField dimension={split} onDimension={(dimension) => choose({ split: dimension })} />
        </div>
        {split && (
          <CardAnswer of={report} rows={4}>
            {(data) => {
              const { breakdown } = data as FunnelInsight // the report of this name
              return breakdown?.dimension === split ? <FunnelSplit split={breakdown} dimension={split} /> : null
            }}
          </CardAnswer>
        )}
      </Card>
    </div>
  )
}

/** 1,204 entered, 87 completed: 7.2%. */
const Result = ({ funnel: { entered, completed, conversion_rate, comparison } }: { funnel: FunnelInsight }) => (
  <p class="row funnel-result">
    <span>
      {exact(entered)} entered, {exact(completed)} completed: <strong>{percent(conversion_rate)}</strong>
    </span>
    {comparison && <Change metric="conversion_rate" change={comparison.change_percent.conversion_rate} value={conversion_rate} />}
    {comparison && <span class="small quiet">before {percent(comparison.conversion_rate)}</span>}
  </p>
)

function DeleteFunnel({ funnel, onClose }: { funnel: FunnelShown; onClose(): void }) {
  const { siteId, searchWith } = useSiteAddress()
  const [, navigate] = useLocation()
  const refresh = useRefreshFunnels(siteId)
  return (
    <Confirm
      title="Delete this funnel"
      act="Delete the funnel"
      name={visible(funnel.name)}
      onConfirm={async () => {
        await remove(`${funnelsPath(siteId)}/${funnel.id}`)
        navigate(`/sites/${siteId}/funnels${searchWith({ cards: {} })}`, { replace: true })
        await refresh()
      }}
      onClose={onClose}
    >
      <p>What was recorded stays. Cards of saved dashboards that show this funnel will have nothing to show.</p>
    </Confirm>
  )
}
