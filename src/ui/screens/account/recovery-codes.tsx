import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import type { Me } from "../../boot.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { saveFile } from "../../save-file.ts"
import { Part } from "./section.tsx"

interface RecoveryCodesProps {
  me: Me
  onCodes(codes: readonly string[]): void
}

/** How many are left, and a new set. */
export function RecoveryCodes({ me, onCodes }: RecoveryCodesProps) {
  const refresh = useRefreshMe()
  const [isAsking, setAsking] = useState(false)
  const left = me.user.mfa.recovery_codes_left
  return (
    <Part title="Recovery codes">
      <p class="quiet">
        They stand in for a second factor that is lost, each once.{" "}
        {left === 0 ? "You have none." : left === 1 ? "One is left." : `${left} are left.`}
      </p>
      <div class="row">
        <Button onClick={() => setAsking(true)}>Make new codes</Button>
      </div>
      {isAsking && (
        <Confirm
          title="Make new recovery codes"
          act="Make ten codes"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const { recovery_codes } = await post<{ recovery_codes: string[] }>("/api/private/me/recovery-codes", undefined)
            onCodes(recovery_codes)
            await refresh()
          }}
        >
          <p>Those you have are void from then on, and all other sessions end.</p>
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

/** The only time they are seen: they are kept as hashes. */
export function CodesShown({ codes, email, onClose }: CodesShownProps) {
  const text = codes.join("\n")
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      <div class="stack">
        <p>Keep them where you find them without your phone. They are shown this once, and each signs in once.</p>
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
            Download
          </Button>
          <CopyButton text={text} />
        </div>
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            I have kept them
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
