import type { ComponentType } from "preact"
import { lazy } from "preact/compat"
import { useEffect } from "preact/hooks"
import { NewVersion } from "./shell/system-pages.tsx"
import { toast } from "./toasts.ts"

/** A screen that is loaded when it is opened. One whose file is gone is one of an older build than the server's. */
export const lazyScreen = (load: () => Promise<{ default: ComponentType }>) => lazy(() => load().catch(() => ({ default: NewVersion })))

/** A part of a page that is loaded when it is needed. Where it cannot be, the page goes on without, and says so. */
export const lazyPart = <Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy(() => load().catch(() => ({ default: Missing as ComponentType<Props> }))) // it looks for one thing alone, and can do without

/** What was to lie over the page closes, so that it can be opened once more. */
function Missing({ onClose }: { onClose?(): void }) {
  useEffect(() => {
    toast("A part of this page cannot be loaded: the server cannot be reached, or runs a newer version. Load the page again.")
    onClose?.()
  }, [])
  return null
}
