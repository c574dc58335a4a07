import { dismiss, toasts } from "../browser/toasts.ts"
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
