import { Suspense } from "preact/compat"
import { useSiteAddress } from "../browser/address.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Icon } from "../parts/icon.tsx"
import { lazyPart } from "../parts/loading.ts"
import { MenuItem, Popover } from "../parts/menu.tsx"
import { COMPARISON_LABELS, PERIOD_LABELS, periodLabel, stepped, todayIn } from "../report/data/ranges.ts"
import { useStatsSource } from "../report/data/reports.ts"
import { openDialog, RangeDialogs } from "../report/dialogs.tsx"
import { rangeText } from "../text/format.ts"

// Lazy, and rendered only with the wide tools, so that the shortcuts are bound once.
const RangeKeys = lazyPart(() => import("./range-keys.tsx"), "RangeKeys")

/** Renders period, comparison and filter of a page: in the top bar on wide screens, else in a sticky row. */
export function RangeTools({ place }: { place: "wide" | "narrow" }) {
  const { filters } = useStatsSource()
  return (
    <>
      <section class={`range-tools ${place}-only`} aria-label="Period">
        <PeriodMenu />
        <ComparisonMenu short={place === "narrow"} />
        {filters && <FilterButton short={place === "narrow"} />}
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
          <>
            {PERIOD_LABELS.map((one) => (
              <MenuItem
                key={one.period}
                checked={one.period === period}
                hint={one.key}
                onSelect={() => {
                  go({ period: one.period })
                  close()
                }}
              >
                {one.label}
              </MenuItem>
            ))}
            <MenuItem
              checked={period === "custom"}
              hint="C"
              onSelect={() => {
                close()
                openDialog.set({ name: "range" })
              }}
            >
              Custom range
            </MenuItem>
            <p class="menu-head">Time zone: {timezone}</p>
          </>
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
  const { address, go } = useSiteAddress()
  const { compare, match, compareFrom, compareTo } = address
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
        <>
          {COMPARISON_LABELS.map((one) => (
            <MenuItem
              key={one.compare}
              checked={one.compare === compare}
              hint={one.compare === "none" ? "X" : undefined}
              onSelect={() => {
                go({ compare: one.compare })
                close()
              }}
            >
              {one.label}
            </MenuItem>
          ))}
          <MenuItem
            checked={compare === "custom"}
            onSelect={() => {
              close()
              openDialog.set({ name: "comparison" })
            }}
          >
            {compare === "custom" && compareFrom && compareTo ? rangeText(compareFrom, compareTo) : "Custom range"}
          </MenuItem>
          <hr class="menu-line" />
          <MenuItem checked={match === "weekday"} toggles onSelect={() => go({ match: match === "weekday" ? "date" : "weekday" })}>
            Match day of week
          </MenuItem>
          <p class="menu-head">Today is compared with a full day</p>
        </>
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
  const count = address.filters.length + (address.segment === undefined ? 0 : 1)
  return (
    <Button icon="filter" aria-label={count > 0 ? `Filter, ${count} active` : "Filter"} onClick={() => openDialog.set({ name: "filter" })}>
      {!short && "Filter"}
      {count > 0 && ` ${count}`}
      {!short && <kbd aria-hidden="true">/</kbd>}
    </Button>
  )
}
