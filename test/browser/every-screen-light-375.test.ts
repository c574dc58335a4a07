import { everyScreen } from "./every-screen.ts"

everyScreen({ theme: "light", width: 375 })
