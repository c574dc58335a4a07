import { createStore } from "../browser/store.ts"
import { Button, IconButton } from "./button.tsx"

/** Short messages about completed actions, with *Undo* where possible. */
export function Toasts() {
  const shown = toasts.use()
  return (
    <div class="toasts" role="status">
      {shown.map(({ id, text, undo }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          {undo && (
            <Button
              kind="quiet"
              onClick={() => {
                dismiss(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}

interface Toast {
  id: number
  text: string
  /** Undoes the action; offered for ten seconds. */
  undo?: () => void
}

const SECONDS = 10
export const toasts = createStore<readonly Toast[]>([])
let last = 0

export function toast(text: string, undo?: () => void): void {
  last += 1
  const id = last
  toasts.set([...toasts.get(), { id, text, ...(undo && { undo }) }])
  setTimeout(() => dismiss(id), SECONDS * 1_000)
}

const dismiss = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id))
