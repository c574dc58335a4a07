import type { UseQueryResult } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { Problem } from "../../api/api.ts"
import { lazyPart } from "../../parts/loading.ts"
import { QueryResult } from "../../parts/states.tsx"
import type { CardTab } from "../data/card-tabs.ts"

const Unsupported = lazyPart(() => import("./empty-card.tsx"), "Unsupported")

/** Like `QueryResult`, but explains in the card which metric and dimension can't be combined, without offering another attempt. */
export function CardResult<Data>({
  of,
  rows,
  children,
}: {
  of: UseQueryResult<Data, Error>
  rows?: number
  children(data: Data): ComponentChildren
}) {
  const fault = of.error instanceof Problem && of.error.members.errors?.find(({ code }) => code === "unsupported_combination")
  if (fault)
    return (
      <div class="card-body" data-rows="9">
        <Suspense fallback={null}>
          <Unsupported detail={fault.detail} />
        </Suspense>
      </div>
    )
  return (
    <QueryResult of={of} {...(rows !== undefined && { rows })}>
      {children}
    </QueryResult>
  )
}

const Empty = lazyPart(() => import("./empty-card.tsx"))

/** The text of an empty card, loaded on demand because most cards have rows. */
export const EmptyCard = ({ tab }: { tab?: CardTab }) => (
  <Suspense fallback={null}>
    <Empty {...(tab && { tab })} />
  </Suspense>
)
