import type { ComponentChildren } from "preact"
import { TopBar } from "./top-bar.tsx"

/** The frame of pages that are about no single site: the bar, and no rail. */
export const PlainShell = ({ children }: { children: ComponentChildren }) => (
  <>
    <TopBar />
    <div class="frame" data-rail="none">
      <div class="content">{children}</div>
    </div>
  </>
)
