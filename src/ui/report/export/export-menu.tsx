import { Suspense } from "preact/compat"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { Popover } from "../../parts/menu.tsx"

const Items = lazyPart(() => import("./export-items.tsx"))

/** The menu *Export* of the page. */
export const ExportMenu = () => (
  <Popover
    label="Export"
    kind="quiet"
    button={
      <>
        <Icon name="download" />
        Export
      </>
    }
  >
    {(close) => (
      <Suspense fallback={<p class="menu-head">Loading</p>}>
        <Items close={close} />
      </Suspense>
    )}
  </Popover>
)
