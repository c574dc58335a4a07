import { Suspense } from "preact/compat"
import { useSiteAddress } from "../browser/address.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Icon } from "../parts/icon.tsx"
import { lazyPart } from "../parts/loading.ts"
import { Popover } from "../parts/menu.tsx"
import { periodLabel, stepped, todayIn } from "../report/data/ranges.ts"
import { useStatsSource } from "../report/data/reports.ts"
import { openDialog, RangeDialogs } from "../report/dialogs.tsx"
import { rangeText } from "../text/format.ts"

// Lazy, and rendered only with the wide tools, so that the shortcuts are bound once.
const RangeKeys = lazyPart(() => import("./shell-menus.tsx"), "RangeKeys")
const PeriodItems = lazyPart(() => import("./shell-menus.tsx"), "PeriodItems")
const ComparisonItems = lazyPart(() => import("./shell-menus.tsx"), "ComparisonItems")

/** Controls of a page about a period: all of them, all but the comparison, or the period alone. */
export type Ranged = true | "uncompared" | "period"

/** Renders period, comparison and filter of a page: in the top bar on wide screens, else in a sticky row. */
export function RangeTools({ place, ranged = true }: { place: "wide" | "narrow"; ranged?: Ranged }) {
  const { filters } = useStatsSource()
  return (
    <>
      <section class={`range-tools ${place}-only`} aria-label="Period">
        <PeriodMenu />
        {ranged === true && <ComparisonMenu short={place === "narrow"} />}
        {ranged !== "period" && filters && <FilterButton short={place === "narrow"} />}
      </section>
      {place === "wide" && (
        <Suspense fallback={null}>
          <RangeKeys />
        </Suspense>
      )}
      {place === "wide" && <RangeDialogs />}
    </>
  )
}

function PeriodMenu() {
  const { address, go } = useSiteAddress()
  const { timezone } = useStatsSource()
  const { period, from, to } = address
  const shown = period === "custom" && from && to ? rangeText(from, to) : periodLabel(period)
  const today = todayIn(timezone)
  const [earlier, later] = [stepped(address, -1, today), stepped(address, 1, today)]
  return (
    <>
      <Popover
        label={`Period: ${shown}`}
        button={
          <>
            <span class="button-text" title={shown}>
              {shown}
            </span>
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <Suspense fallback={null}>
            <PeriodItems close={close} />
          </Suspense>
        )}
      </Popover>
      <span class="stepper">
        <IconButton icon="left" label="Earlier period" disabled={!earlier} onClick={() => earlier && go(earlier)} />
        <IconButton icon="right" label="Later period" disabled={!later} onClick={() => later && go(later)} />
      </span>
      <span class="quiet small zone-name" title={timezone}>
        {timezone}
      </span>
    </>
  )
}

function ComparisonMenu({ short }: { short: boolean }) {
  const { address } = useSiteAddress()
  const { compare } = address
  return (
    <Popover
      label={`Comparison: ${short && compare === "none" ? "vs nothing" : COMPARISON_BUTTON[compare]}`}
      button={
        <>
          {short ? "vs" : COMPARISON_BUTTON[compare]}
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <Suspense fallback={null}>
          <ComparisonItems close={close} />
        </Suspense>
      )}
    </Popover>
  )
}

const COMPARISON_BUTTON = {
  none: "Compare",
  previous_period: "vs previous",
  previous_year: "vs previous year",
  custom: "vs custom",
} as const

function FilterButton({ short }: { short: boolean }) {
  const { address } = useSiteAddress()
  const count = address.filters.length + address.any.length + (address.segment === undefined ? 0 : 1)
  return (
    <Button icon="filter" aria-label={count > 0 ? `Filter, ${count} active` : "Filter"} onClick={() => openDialog.set({ name: "filter" })}>
      {!short && "Filter"}
      {count > 0 && ` ${count}`}
      {!short && <kbd aria-hidden="true">/</kbd>}
    </Button>
  )
}
