import { useEffect } from "preact/hooks"
import { asked } from "../api/proof.ts"
import { toast } from "../browser/toasts.ts"

/** Cancels a question whose dialog cannot be loaded because its file belonged to an older build. The page keeps its input. */
export function Unasked() {
  useEffect(() => {
    asked.get()?.cancel()
    toast("A new version of Footfall is available. Copy anything you've typed, then reload the page.")
  }, [])
  return null
}
