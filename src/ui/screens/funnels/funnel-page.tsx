import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import type { OwnFunnelResponse } from "../../../domain/funnel.ts"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { comparisonArguments, rangeArguments } from "../../../domain/site-address.ts"
import { remove } from "../../api/api.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { usePageChoices } from "../../browser/hooks.ts"
import { Button } from "../../parts/button.tsx"
import { Change } from "../../parts/change.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { ImportMark } from "../../report/trust.tsx"
import { exact, percent } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { FunnelBars, FunnelSplit, FunnelTable, MAX_ROWS, NoVisitors, SplitField, splitOf } from "./funnel-bars.tsx"
import FunnelDialog, { ORDER_LABELS } from "./funnel-dialog.tsx"
import { funnelsPath, useRefreshFunnels } from "./funnel-draft.ts"

/** Shows a saved funnel: its steps, comparison and breakdown. */
export function FunnelPage({ funnel }: { funnel: OwnFunnelResponse }) {
  const { siteId, searchWith } = useSiteAddress()
  const { can } = useStatsSource()
  const [open, setOpen] = useState<"edit" | "delete">()
  const close = () => setOpen(undefined)
  return (
    <Page
      title={visible(funnel.name)}
      parent={{ href: `/sites/${siteId}/funnels${searchWith({ cards: {} })}`, label: "All funnels" }}
      actions={
        can("funnels:write") && (
          <>
            <Button icon="pencil" onClick={() => setOpen("edit")}>
              Edit funnel
            </Button>
            <Button kind="danger" icon="trash" onClick={() => setOpen("delete")}>
              Delete funnel
            </Button>
          </>
        )
      }
    >
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <Report funnel={funnel} />
      {open === "edit" && <FunnelDialog funnel={funnel} onClose={close} />}
      {open === "delete" && <DeleteFunnel funnel={funnel} onClose={close} />}
    </Page>
  )
}

function Report({ funnel }: { funnel: OwnFunnelResponse }) {
  const { address } = useSiteAddress()
  const { of, choose } = usePageChoices()
  const split = splitOf(of("split"))
  const asTable = of("view") === "table"
  const report = useReport("funnel", {
    funnel_id: funnel.id,
    ...rangeArguments(address),
    ...comparisonArguments(address),
    ...(split && { breakdown: split, ...(of("rows") === "more" && { breakdown_limit: MAX_ROWS }) }),
  })
  return (
    <div class="stack" data-fits>
      <Card
        title="Steps"
        full
        marks={
          <>
            <span class="small quiet">
              {ORDER_LABELS[funnel.order]}
              {funnel.window_hours !== null && `, within ${funnel.window_hours} hours`}
            </span>
            <ImportMark of={(report.data as FunnelInsight | undefined)?.imports} />
          </>
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
        <CardResult of={report} rows={6}>
          {(data) => {
            const found = data as FunnelInsight // the result of the funnel report
            return (
              <>
                <Result funnel={found} />
                {found.entered === 0 && <NoVisitors />}
                {asTable ? <FunnelTable funnel={found} /> : <FunnelBars funnel={found} />}
              </>
            )
          }}
        </CardResult>
      </Card>
      <Card title="Breakdown" full>
        <div class="split-field">
          <SplitField dimension={split} onDimension={(dimension) => choose({ split: dimension, rows: undefined })} />
        </div>
        {split && (
          <CardResult of={report} rows={4}>
            {(data) => {
              const { breakdown } = data as FunnelInsight // the result of the funnel report
              return breakdown?.dimension === split ? (
                <FunnelSplit split={breakdown} dimension={split} onMore={() => choose({ rows: "more" }, { replace: true })} />
              ) : null
            }}
          </CardResult>
        )}
      </Card>
    </div>
  )
}

/** Shows the overall result, such as *1,204 entered, 87 completed: 7.2%*. */
const Result = ({ funnel: { entered, completed, conversion_rate, comparison } }: { funnel: FunnelInsight }) => (
  <p class="row funnel-result">
    <span>
      {exact(entered)} entered, {exact(completed)} completed: <strong>{percent(conversion_rate)}</strong>
    </span>
    {comparison && <Change metric="conversion_rate" change={comparison.change_percent.conversion_rate} value={conversion_rate} />}
    {comparison && <span class="small quiet">was {percent(comparison.conversion_rate)}</span>}
  </p>
)

function DeleteFunnel({ funnel, onClose }: { funnel: OwnFunnelResponse; onClose(): void }) {
  const { siteId, searchWith } = useSiteAddress()
  const [, navigate] = useLocation()
  const refresh = useRefreshFunnels(siteId)
  return (
    <Confirm
      title="Delete this funnel?"
      act="Delete funnel"
      name={visible(funnel.name)}
      onConfirm={async () => {
        await remove(`${funnelsPath(siteId)}/${funnel.id}`)
        navigate(`/sites/${siteId}/funnels${searchWith({ cards: {} })}`, { replace: true })
        await refresh()
      }}
      onClose={onClose}
    >
      <p>Recorded data is kept. Dashboard widgets that show this funnel will be empty. This can't be undone.</p>
    </Confirm>
  )
}
