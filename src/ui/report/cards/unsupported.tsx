import { EmptyState } from "../../parts/states.tsx"
import { metricLabel } from "../../text/format.ts"
import { dimensionLabel } from "../../text/words.ts"

/** Rephrases the server's message about a metric and a dimension that can't be combined: Bounce rate can't be broken down by event. */
export default function Unsupported({ detail }: { detail: string }) {
  const [, metric, dimension] = /^(\w+) does not go with dimension (\w+)/.exec(detail) ?? []
  return (
    <EmptyState>
      {metric && dimension
        ? `${metricLabel(metric)} can't be broken down by ${dimensionLabel(dimension as Parameters<typeof dimensionLabel>[0]).toLowerCase()}.`
        : `These filters can't be combined here: ${detail}`}
    </EmptyState>
  )
}
