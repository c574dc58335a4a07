import { metricLabel } from "../../format.ts"
import { EmptyState } from "../../parts/states.tsx"
import { dimensionLabel } from "../../words.ts"

/** What cannot be asked together, from the server's sentence about it: bounce rate cannot be split by event. */
export default function Unsupported({ detail }: { detail: string }) {
  const [, metric, dimension] = /^(\w+) does not go with dimension (\w+)/.exec(detail) ?? []
  return (
    <EmptyState>
      {metric && dimension
        ? `${metricLabel(metric)} cannot be split by ${dimensionLabel(dimension as Parameters<typeof dimensionLabel>[0]).toLowerCase()}.`
        : `These filters do not go together here: ${detail}`}
    </EmptyState>
  )
}
