import { useEffect, useId, useState } from "preact/hooks"
import { useLocation } from "wouter"
import { createStore } from "../../browser/store.ts"
import { Button } from "../button.tsx"
import { Dialog } from "../dialog.tsx"

/** Ids of the sections with unsaved changes. */
const unsaved = createStore<ReadonlySet<string>>(new Set())

/** Registers a section as having unsaved changes while it is shown. */
export function useUnsaved(isDirty: boolean): void {
  const id = useId()
  useEffect(() => {
    if (!isDirty) return
    unsaved.set(new Set([...unsaved.get(), id]))
    return () => unsaved.set(new Set([...unsaved.get()].filter((one) => one !== id)))
  }, [isDirty, id])
}

/** Asks for confirmation before a link, the back button or closing the window discards unsaved changes. */
export function UnsavedGuard() {
  const isDirty = unsaved.use().size > 0
  const [wanted, setWanted] = useState<string>()
  const [, navigate] = useLocation()
  useEffect(() => {
    if (!isDirty) return
    const here = location.href
    const onClick = (event: MouseEvent) => {
      const link = (event.target as Element).closest?.("a[href]")
      if (!(link instanceof HTMLAnchorElement) || link.target === "_blank" || link.origin !== location.origin) return
      if (event.ctrlKey || event.metaKey || event.shiftKey || link.hash !== "") return
      event.preventDefault()
      event.stopPropagation()
      setWanted(link.pathname + link.search)
    }
    // The history entry was already left, so it is pushed again and the event is hidden from the router.
    const onBack = (event: PopStateEvent) => {
      event.stopImmediatePropagation()
      const target = location.pathname + location.search
      window.history.pushState(null, "", here)
      setWanted(target)
    }
    const onClose = (event: BeforeUnloadEvent) => event.preventDefault()
    document.addEventListener("click", onClick, true)
    addEventListener("popstate", onBack, true)
    addEventListener("beforeunload", onClose)
    return () => {
      document.removeEventListener("click", onClick, true)
      removeEventListener("popstate", onBack, true)
      removeEventListener("beforeunload", onClose)
    }
  }, [isDirty])
  if (wanted === undefined) return null
  return (
    <Dialog title="Leave without saving?" onClose={() => setWanted(undefined)} small>
      <p>Your changes here aren't saved yet.</p>
      <div class="dialog-foot">
        <Button
          kind="danger"
          onClick={() => {
            unsaved.set(new Set())
            setWanted(undefined)
            navigate(wanted)
          }}
        >
          Leave without saving
        </Button>
        <Button kind="primary" onClick={() => setWanted(undefined)}>
          Stay on page
        </Button>
      </div>
    </Dialog>
  )
}
