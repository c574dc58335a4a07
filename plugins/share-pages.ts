/**
 * Pages of the plugins for strangers who have the URL of a share. Apart from `pages.ts`, because the bundle of these pages must contain
 * nothing that only members need.
 */
import type { SharePage } from "../src/ui/router/share-screens.tsx"

export const sharePages: readonly SharePage[] = [{ path: "/share/d", load: () => import("./dashboards/ui/public/shared-board.tsx") }]
