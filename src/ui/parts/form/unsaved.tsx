import { useEffect, useId, useState } from "preact/hooks"
import { useLocation } from "wouter"
import { createStore } from "../store.ts"
import { Button } from "./button.tsx"
import { Dialog } from "./dialog.tsx"

/** Sections with something typed that is not saved. */
const unsaved = createStore<ReadonlySet<string>>(new Set())

/** Says of a section whether something in it is not saved, for as long as it is shown. */
export function useUnsaved(isDirty: boolean): void {
  const id = useId()
  useEffect(() => {
    if (!isDirty) return
    unsaved.set(new Set([...unsaved.get(), id]))
    return () => unsaved.set(new Set([...unsaved.get()].filter((one) => one !== id)))
  }, [isDirty, id])
}

/** Asks before a link, the way back or the closing of the window takes what is not saved along. */
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
    // The entry is left already: it comes back as a new one, and the page hears nothing of it.
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
      <p>What you changed here is not saved yet.</p>
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
          Stay
        </Button>
      </div>
    </Dialog>
  )
}
