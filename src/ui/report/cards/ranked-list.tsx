import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { Link } from "wouter"
import { Change } from "../../parts/change.tsx"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { Popover } from "../../parts/menu.tsx"
import { ValueIcon } from "../../parts/value-icon.tsx"
import { exact, metricLabel, metricText, percent } from "../../text/format.ts"
import { TruncatedText, visible } from "../../text/safe-text.tsx"
import { type CardTab, openPage } from "../data/card-tabs.ts"
import { isNoValue, rowValue } from "../data/figures.ts"

const RowNote = lazyPart(() => import("../explanations.tsx"), "RowNote")

/** A row of a breakdown, with the earlier values if there is a comparison. */
export interface RankedRow {
  value: string
  label?: string
  share?: number
  comparison?: { metrics: Record<string, number>; change_percent: Record<string, number> }
  [metric: string]: unknown
}

interface RankedListProps {
  /** Header of the first column. */
  title: string
  /** Dimension of the values, for their icons. */
  dimension?: string
  rows: readonly RankedRow[]
  /** Metrics of the columns. The first one is also drawn as a bar and compared. */
  metrics: readonly string[]
  currency?: string | undefined
  /** Whether a comparison is shown. False if there was no data in the earlier period. Default: true. */
  compares?: boolean
  isChosen(value: string): boolean
  /** Returns the URL of the page filtered by the row. Undefined if the filters can't be changed. */
  addressOf: ((value: string) => string) | undefined
  /** Returns the web page of a row, which Ctrl/⌘-click and the arrow icon open. */
  pageOf?(value: string): string | undefined
  /** Renders the menu at the end of the label. */
  menuOf?(row: RankedRow): ComponentChildren
}

/** List of values with their numbers. The bar behind the text repeats the number, its tick marks the earlier value. Arrow keys move between rows. */
export function RankedList({
  title,
  dimension,
  rows,
  metrics,
  currency,
  compares = true,
  isChosen,
  addressOf,
  pageOf,
  menuOf,
}: RankedListProps) {
  const [metric = "visitors", ...others] = metrics
  const most = Math.max(1, ...rows.flatMap((row) => [numberOf(row, metric), row.comparison?.metrics[metric] ?? 0]))
  const hasShare = others.length === 0 && rows.some(({ share }) => share !== undefined)
  const hasChange = compares && rows.some(({ comparison }) => comparison !== undefined)
  const anyChosen = rows.some(({ value }) => isChosen(value))
  return (
    <table class="ranked" onKeyDown={moveBetweenRows}>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col" class="number value-column">
            {metricLabel(metric)}
          </th>
          {hasShare && (
            <th scope="col" class="number share-column">
              Share
            </th>
          )}
          {others.map((other) => (
            <th key={other} scope="col" class="number extra-column">
              {metricLabel(other)}
            </th>
          ))}
          {hasChange && (
            <th scope="col" class="number change-column">
              Change
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const chosen = isChosen(row.value)
          const before = compares ? row.comparison?.metrics[metric] : undefined
          const value = numberOf(row, metric)
          const page = pageOf?.(row.value)
          const text = (
            <>
              <ValueIcon dimension={dimension} value={row.value} />
              <TruncatedText text={row.label ?? row.value} />
            </>
          )
          return (
            <tr key={row.value} data-dimmed={(anyChosen && !chosen) || undefined}>
              <th scope="row" class="ranked-label">
                <span class="ranked-bar" style={{ width: `${(value / most) * 100}%` }} />
                {before !== undefined && before > 0 && <span class="ranked-tick" style={{ left: `${(before / most) * 100}%` }} />}
                {addressOf ? (
                  <Link
                    href={addressOf(row.value)}
                    class="ranked-link"
                    aria-current={chosen ? "true" : undefined}
                    onClick={(event: MouseEvent) => {
                      if (!page || !(event.ctrlKey || event.metaKey)) return
                      event.preventDefault()
                      openPage(page)
                    }}
                  >
                    {text}
                  </Link>
                ) : (
                  <span class="ranked-link">{text}</span>
                )}
                {isNoValue(row.value) && (
                  <Suspense fallback={<span aria-busy="true" />}>
                    <RowNote value={row.value} label={row.label} />
                  </Suspense>
                )}
                {page && (
                  // Keyboard users find the same action in the menu.
                  <a
                    class="ranked-open"
                    href={page}
                    target="_blank"
                    rel="noreferrer noopener"
                    tabIndex={-1}
                    aria-label={`Open ${visible(row.value)}`}
                  >
                    <Icon name="open" />
                  </a>
                )}
                {menuOf?.(row)}
              </th>
              <td class="number" title={exact(value)}>
                {metricText(metric, value, currency)}
              </td>
              {hasShare && <td class="number quiet share-column">{percent(row.share)}</td>}
              {others.map((other) => (
                <td key={other} class="number quiet extra-column">
                  {metricText(other, rowValue(row, other), currency)}
                </td>
              ))}
              {hasChange && (
                <td class="number small change-column">
                  <Change metric={metric} change={row.comparison?.change_percent[metric]} value={value} />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const numberOf = (row: RankedRow, metric: string): number => Number(row[metric] ?? 0)

function moveBetweenRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const table = event.currentTarget as HTMLElement
  const links = [...table.querySelectorAll<HTMLElement>("a.ranked-link")]
  const here = links.indexOf(document.activeElement as HTMLElement)
  if (step === undefined || here < 0) return
  event.preventDefault()
  links[Math.max(0, Math.min(links.length - 1, here + step))]?.focus()
}

const Items = lazyPart(() => import("../menu-items.tsx"), "RowMenuItems")

export interface RowMenuProps {
  tab: CardTab
  value: string
  label: string
}

/** Menu with the other actions on a row. */
export const RowMenu = ({ tab, value, label }: RowMenuProps) => (
  <span class="ranked-menu">
    <Popover iconOnly kind="quiet" label={`Actions for ${visible(label)}`} button={<Icon name="more" />}>
      {(close) => (
        <Suspense fallback={<p class="menu-head">Loading</p>}>
          <Items tab={tab} value={value} label={label} close={close} />
        </Suspense>
      )}
    </Popover>
  </span>
)
