import { Suspense } from "preact/compat"
import { lazyPart } from "../../lazy-screen.ts"
import { Icon } from "../../parts/icon.tsx"
import { Popover } from "../../parts/menu.tsx"
import { visible } from "../../safe-text.ts"
import type { CardTab } from "./card-tabs.ts"

const Items = lazyPart(() => import("./row-menu-items.tsx"))

export interface RowMenuProps {
  tab: CardTab
  value: string
  label: string
}

/** What else can be done with a row than to filter by it. */
export const RowMenu = ({ tab, value, label }: RowMenuProps) => (
  <span class="ranked-menu">
    <Popover iconOnly kind="quiet" label={`Menu of ${visible(label)}`} button={<Icon name="more" />}>
      {(close) => (
        <Suspense fallback={<p class="menu-head">Loading</p>}>
          <Items tab={tab} value={value} label={label} close={close} />
        </Suspense>
      )}
    </Popover>
  </span>
)
