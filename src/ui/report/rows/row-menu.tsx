import { Suspense } from "preact/compat"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { Popover } from "../../parts/menu.tsx"
import { visible } from "../../text/safe-text.tsx"
import type { CardTab } from "../data/card-tabs.ts"

const Items = lazyPart(() => import("./row-menu-items.tsx"))

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
