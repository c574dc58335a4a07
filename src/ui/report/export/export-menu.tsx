import { Suspense } from "preact/compat"
import { lazyPart } from "../../lazy-screen.ts"
import { Icon } from "../../parts/icon.tsx"
import { Popover } from "../../parts/menu.tsx"

const Items = lazyPart(() => import("./take-along-items.tsx"))

/** Everything on the page in a form that others can use. */
export const TakeAlong = () => (
  <Popover
    label="Take along"
    kind="quiet"
    button={
      <>
        <Icon name="download" />
        Take along
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
