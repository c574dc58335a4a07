import { Suspense } from "preact/compat"
import { lazyPart } from "../../lazy-screen.ts"
import type { CardTab } from "./card-tabs.ts"

const Empty = lazyPart(() => import("./empty-card.tsx"))

/** What an empty card says; most cards are not. */
export const EmptyCard = ({ tab }: { tab?: CardTab }) => (
  <Suspense fallback={null}>
    <Empty {...(tab && { tab })} />
  </Suspense>
)
