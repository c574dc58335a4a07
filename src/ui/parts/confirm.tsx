import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button } from "./button.tsx"
import { Dialog } from "./dialog.tsx"
import { TextField } from "./fields.tsx"
import { Form } from "./form.tsx"

interface ConfirmProps {
  title: string
  /** What happens, with its consequence in numbers where there are any. */
  children: ComponentChildren
  /** What the button does: Delete 41,203 events. */
  act: string
  /** The thing's name, to be typed where there is no way back. */
  name?: string
  onConfirm(): Promise<unknown>
  onClose(): void
}

/** Asks before something is done that cannot simply be taken back. */
export function Confirm({ title, children, act, name, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("")
  const isNamed = name === undefined || typed.trim() === name
  return (
    <Dialog title={title} onClose={onClose} small>
      <Form
        submit={async () => {
          await onConfirm()
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <div>{children}</div>
            {name !== undefined && <TextField label={`Type ${name} to go on`} value={typed} onValue={setTyped} autocomplete="off" />}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="confirm" type="submit" busy={busy} disabled={!isNamed}>
                {act}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
