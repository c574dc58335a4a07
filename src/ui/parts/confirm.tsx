import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button } from "./button.tsx"
import { Dialog } from "./dialog.tsx"
import { TextField } from "./form/fields.tsx"
import { Form } from "./form/form.tsx"

interface ConfirmProps {
  title: string
  /** What will happen, with numbers where possible. */
  children: ComponentChildren
  /** Label of the button, such as Delete 41,203 events. */
  act: string
  /** Name that the user must type if the action can't be undone. */
  name?: string
  onConfirm(): Promise<unknown>
  onClose(): void
}

/** Dialog that asks for confirmation before a destructive action. */
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
            {name !== undefined && <TextField label={`Type ${name} to confirm`} value={typed} onValue={setTyped} autocomplete="off" />}
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
