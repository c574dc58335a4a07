import type { ComponentChildren } from "preact"
import { locale, memoize, timeText } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"

/** A list of names and values. */
export const DescriptionList = ({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
)

/** Name and email address of a person in a table cell. */
export const Person = ({ name, email }: { name: string; email: string }) => (
  <>
    <div>{visible(name)}</div>
    <div class="small quiet">{visible(email)}</div>
  </>
)

/** Shows how long ago an instant was, with the full time as the title. */
export const TimeAgo = ({ at, none = "never" }: { at: string | null; none?: string }) =>
  at === null ? (
    <span class="quiet">{none}</span>
  ) : (
    <time dateTime={at} title={timeText(at)}>
      {agoText(at)}
    </time>
  )

const wordsIn = memoize((locale: string) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }))

/** Describes how long ago an instant was, in the largest whole unit. */
export function agoText(instant: string | number, now = Date.now()): string {
  const seconds = Math.round((new Date(instant).getTime() - now) / 1_000)
  const words = wordsIn(locale())
  for (const [unit, length] of [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ] as const)
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit)
  return words.format(seconds, "second")
}

interface SparklineProps {
  values: readonly number[]
  /** Accessible name, to which the lowest and highest value are added. */
  label: string
}

/** A sparkline that starts at zero. */
export function Sparkline({ values, label }: SparklineProps) {
  const high = Math.max(...values, 1)
  const step = 100 / Math.max(1, values.length - 1)
  const points = values.map((value, index) => `${(index * step).toFixed(2)},${(38 - (value / high) * 36).toFixed(2)}`)
  return (
    <svg
      class="spark"
      viewBox="0 0 100 40"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}, low ${Math.min(...values)}, high ${Math.max(...values)}`}
    >
      <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
