import { useState } from "preact/hooks"
import { post } from "../../api/api.ts"
import { type Me, useRefreshMe } from "../../api/session.ts"
import { saveFile } from "../../browser/files.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Part } from "./section.tsx"

interface RecoveryCodesProps {
  me: Me
  onCodes(codes: readonly string[]): void
}

/** Shows how many recovery codes are left and generates a new set. */
export function RecoveryCodes({ me, onCodes }: RecoveryCodesProps) {
  const refresh = useRefreshMe()
  const [isAsking, setAsking] = useState(false)
  const left = me.user.mfa.recovery_codes_left
  return (
    <Part title="Recovery codes">
      <p class="quiet">
        Use one if you lose your second factor. Each code works once.{" "}
        {left === 0 ? "You have none left." : left === 1 ? "You have 1 left." : `You have ${left} left.`}
      </p>
      <div class="row">
        <Button onClick={() => setAsking(true)}>Generate new codes</Button>
      </div>
      {isAsking && (
        <Confirm
          title="Generate new recovery codes?"
          act="Generate new codes"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const { recovery_codes } = await post<{ recovery_codes: string[] }>("/api/private/me/recovery-codes", undefined)
            onCodes(recovery_codes)
            await refresh()
          }}
        >
          <p>Your existing codes stop working, and all other sessions will be signed out.</p>
        </Confirm>
      )}
    </Part>
  )
}

interface CodesShownProps {
  codes: readonly string[]
  email: string
  onClose(): void
}

/** Shows new recovery codes. They can't be shown again, because only their hashes are stored. */
export function CodesShown({ codes, email, onClose }: CodesShownProps) {
  const text = codes.join("\n")
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      <div class="stack">
        <p>Store them where you can reach them without your phone. They're shown only now, and each works once.</p>
        <pre class="codes">{text}</pre>
        <div class="row">
          <Button
            icon="download"
            onClick={() =>
              saveFile(
                `footfall-recovery-codes.txt`,
                new Blob([`Footfall recovery codes of ${email}\n${location.origin}\n\n${text}\n`], { type: "text/plain" }),
              )
            }
          >
            Download codes
          </Button>
          <CopyButton text={text} />
        </div>
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            I've saved them
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
