import { Suspense } from "preact/compat"
import { lazyPart } from "../../parts/loading.ts"
import type { CardTab } from "../data/card-tabs.ts"

const Empty = lazyPart(() => import("./empty-card.tsx"))

/** The text of an empty card, loaded on demand because most cards have rows. */
export const EmptyCard = ({ tab }: { tab?: CardTab }) => (
  <Suspense fallback={null}>
    <Empty {...(tab && { tab })} />
  </Suspense>
)
