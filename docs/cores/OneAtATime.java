import java.io.*;
import java.util.*;

/** A checkpoint coordinator that runs one checkpoint at a time: `java OneAtATime.java`. */
public class OneAtATime {
  static final Set<String> COUNTED = Set.of("CHECKPOINT_DECLINED", "CHECKPOINT_ASYNC_EXCEPTION",
      "CHECKPOINT_EXPIRED", "FINALIZE_CHECKPOINT_FAILURE", "IO_EXCEPTION");
  final Map<String, Object> parameters;
  final Deque<Map<String, Object>> queue = new ArrayDeque<>();
  final List<Object> completed;
  final Set<Object> ended = new HashSet<>();
  final Set<Object> awaited = new TreeSet<>(), known = new HashSet<>();
  List<Object> effects;
  Map<String, Object> planned, request;
  Long running;
  boolean periodic, storing;
  long now, next, tick, requests, triggered, acknowledged, failures, lastCompletion = -1;

  OneAtATime(Map<String, Object> arguments) {
    parameters = object(arguments.get("parameters"));
    next = (Long) arguments.get("first_checkpoint");
    completed = new ArrayList<>((List<?>) arguments.get("completed"));
  }

  List<Object> step(Map<String, Object> e) {
    effects = new ArrayList<>();
    now = (Long) e.get("now_ns");
    Object checkpoint = e.get("checkpoint");
    String reason = (String) e.get("reason");
    boolean ours = running != null && running.equals(checkpoint);
    switch ((String) e.get("type")) {
      case "SchedulerStarted" -> {
        if (parameters.get("interval_ns") != null) tickIn((Long) e.get("first_delay_ns"));
      }
      case "SchedulerStopped" -> {
        if (periodic) add("CancelTimer", "kind", "TICK", "number", tick);
        periodic = false;
        if (planned != null) queue.addFirst(planned);
        planned = null;
        for (; !queue.isEmpty(); queue.remove()) refuse(queue.peek(), reason);
        if (running != null) abort(reason);
      }
      case "CheckpointRequested" -> {
        boolean savepoint = (Boolean) e.get("savepoint");
        boolean forced = savepoint && !(Boolean) parameters.get("unaligned");
        queue.add(of("number", ++requests, "submitted_ns", now, "periodic", false, "savepoint", savepoint,
            "forced", e.get("forced") == null ? forced : e.get("forced"), "synchronous", e.get("synchronous")));
      }
      case "TimerFired" -> {
        Object number = e.get("number");
        if (e.get("kind").equals("EXPIRY")) {
          if (number.equals(running) && !storing) abort("CHECKPOINT_EXPIRED");
        } else if (periodic && number.equals(tick)) {
          tickIn(Math.max((Long) parameters.get("interval_ns"), pause()));
          if (queue.stream().noneMatch(each -> (Boolean) each.get("periodic")))
            queue.add(of("number", ++requests, "submitted_ns", now, "periodic", true));
        }
      }
      case "Planned" -> trigger((List<?>) e.get("trigger"), (List<?>) e.get("await_tasks"));
      case "PlanRefused" -> {
        refuse(planned, reason);
        planned = null;
      }
      case "Acknowledged" -> {
        if (!ours || !known.contains(e.get("task")))
          add("DiscardState", "checkpoint", checkpoint, "task", e.get("task"), "late", ended.contains(checkpoint));
        else if (awaited.remove(e.get("task"))) {
          acknowledged = now;
          storeIfWhole();
        }
      }
      case "Declined" -> {
        if (ours && !storing) {
          boolean stop = is(request, "savepoint") && is(request, "synchronous");
          abort(reason);
          if (stop) add("FailJob", "checkpoint", checkpoint, "reason", reason);
        }
      }
      case "Stored" -> {
        if (ours && (Boolean) e.get("failed")) abort(reason);
        else if (ours) complete();
      }
      default -> { }
    }
    choose();
    return effects;
  }

  void choose() {
    if (planned != null || running != null || queue.isEmpty()) return;
    Map<String, Object> head = queue.remove();
    long missing = lastCompletion < 0 ? 0 : lastCompletion + pause() - now;
    if (is(head, "periodic") && missing > 0) {
      refuse(head, "MINIMUM_TIME_BETWEEN_CHECKPOINTS");
      tickIn(missing);
    } else {
      planned = head;
      add("PlanCheckpoint", "request", head);
    }
  }

  void trigger(List<?> tasks, List<?> waitFor) {
    request = planned;
    planned = null;
    running = next++;
    triggered = acknowledged = now;
    storing = false;
    known.clear();
    known.addAll(waitFor);
    awaited.clear();
    awaited.addAll(waitFor);
    String kind = kind();
    Object timeout = kind.equals("TIMEOUTABLE") ? parameters.get("alignment_timeout_ns") : null;
    add("SetTimer", "kind", "EXPIRY", "number", running, "delay_ns", parameters.get("timeout_ns"));
    add("TriggerTasks", "barrier", of("checkpoint", running, "timestamp_ns", now, "kind", kind,
        "timeout_ns", timeout), "tasks", tasks, "request", request);
    storeIfWhole();
  }

  String kind() {
    if (is(request, "savepoint")) return is(parameters, "exactly_once") ? "SAVEPOINT" : "AT_LEAST_ONCE";
    if (!is(parameters, "exactly_once")) return "AT_LEAST_ONCE";
    if (!is(parameters, "unaligned")) return "ALIGNED";
    Long timeout = (Long) parameters.get("alignment_timeout_ns");
    return timeout == null || timeout == 0 || timeout >= Long.MAX_VALUE ? "UNALIGNED" : "TIMEOUTABLE";
  }

  void storeIfWhole() {
    if (!awaited.isEmpty()) return;
    storing = true;
    add("CancelTimer", "kind", "EXPIRY", "number", running);
    add("StoreCheckpoint", "checkpoint", running, "savepoint", is(request, "savepoint"));
  }

  void complete() {
    long checkpoint = end();
    failures = 0;
    lastCompletion = now;
    add("CheckpointCompleted", "checkpoint", checkpoint, "duration_ns", acknowledged - triggered);
    Object subsumed = null;
    if (!is(request, "savepoint")) {
      completed.add(checkpoint);
      if (completed.size() > (Long) parameters.get("retained")) {
        subsumed = completed.remove(0);
        add("DiscardCheckpoint", "checkpoint", subsumed);
      }
    }
    if (!is(request, "savepoint") || is(request, "synchronous"))
      add("NotifyComplete", "checkpoint", checkpoint, "subsumed", subsumed);
  }

  void abort(String reason) {
    boolean whole = storing;
    long checkpoint = end();
    if (!whole) add("CancelTimer", "kind", "EXPIRY", "number", checkpoint);
    add("CheckpointFailed", "checkpoint", checkpoint, "reason", reason);
    if (!is(request, "savepoint")) count(checkpoint, reason);
    Object latest = completed.isEmpty() ? null : completed.get(completed.size() - 1);
    add("NotifyAborted", "checkpoint", checkpoint, "latest_completed", latest);
    add("DiscardCheckpoint", "checkpoint", checkpoint);
  }

  long end() {
    long checkpoint = running;
    ended.add(checkpoint);
    running = null;
    awaited.clear();
    return checkpoint;
  }

  void refuse(Map<String, Object> refused, String reason) {
    add("RefuseRequest", "request", refused, "reason", reason);
    if (!is(refused, "savepoint")) count(null, reason);
  }

  void count(Object checkpoint, String reason) {
    Object tolerable = parameters.get("tolerable_failures");
    if (tolerable == null || !COUNTED.contains(reason) || ++failures <= (Long) tolerable) return;
    failures = 0;
    add("FailJob", "checkpoint", checkpoint, "reason", reason);
  }

  void tickIn(long delay) {
    if (periodic) add("CancelTimer", "kind", "TICK", "number", tick);
    periodic = true;
    add("SetTimer", "kind", "TICK", "number", ++tick, "delay_ns", delay);
  }

  long pause() { return (Long) parameters.get("min_pause_ns"); }

  void add(String type, Object... fields) {
    Map<String, Object> effect = of("type", type);
    effect.putAll(of(fields));
    effects.add(effect);
  }

  Object ask(String question, Map<String, Object> arguments) {
    return switch (question) {
      case "pending" -> running == null ? List.of() : List.of(running);
      case "planning" -> planned != null;
      case "completed" -> completed;
      case "next_checkpoint" -> next;
      case "awaited" -> arguments.get("checkpoint").equals(running) ? List.copyOf(awaited) : List.of();
      default -> throw new IllegalArgumentException(question);
    };
  }

  public static void main(String[] none) throws IOException {
    Map<Object, OneAtATime> cores = new HashMap<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    for (String line; (line = in.readLine()) != null; ) {
      Map<String, Object> message = object(new Json(line).value());
      OneAtATime core = cores.get(message.get("core"));
      Map<String, Object> answer = of("n", message.get("n"), "ok", true);
      switch ((String) message.get("op")) {
        case "hello" -> answer = of("n", message.get("n"), "protocol", 1L);
        case "begin" -> cores.clear();
        case "make" -> cores.put(message.get("core"), new OneAtATime(object(message.get("arguments"))));
        case "step" -> answer = of("n", message.get("n"), "effects", core.step(object(message.get("event"))));
        default -> answer = of("n", message.get("n"), "answer",
            core.ask((String) message.get("question"), object(message.get("arguments"))));
      }
      out.println(text(answer));
    }
  }

  static Map<String, Object> of(Object... pairs) {
    Map<String, Object> found = new LinkedHashMap<>();
    for (int at = 0; at < pairs.length; at += 2) found.put((String) pairs[at], pairs[at + 1]);
    return found;
  }

  static boolean is(Map<String, Object> object, String name) {
    return Boolean.TRUE.equals(object.get(name));
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) { return (Map<String, Object>) value; }

  static String text(Object value) {
    if (value instanceof Map<?, ?> map) {
      StringJoiner all = new StringJoiner(",", "{", "}");
      map.forEach((name, each) -> all.add(text(name) + ":" + text(each)));
      return all.toString();
    }
    if (value instanceof Collection<?> list) {
      StringJoiner all = new StringJoiner(",", "[", "]");
      list.forEach(each -> all.add(text(each)));
      return all.toString();
    }
    return value instanceof String ? '"' + (String) value + '"' : String.valueOf(value);
  }

  /** Reads what comes to a coordinator: whole numbers, and texts without escapes. */
  static class Json {
    final StringTokenizer tokens;
    String token;

    Json(String line) { tokens = new StringTokenizer(line, " {}[],:\"", true); take(); }

    String take() {
      String taken = token;
      do token = tokens.hasMoreTokens() ? tokens.nextToken() : ""; while (token.equals(" "));
      return taken;
    }

    Object value() {
      String first = take();
      switch (first) {
        case "{" -> {
          Map<String, Object> found = new LinkedHashMap<>();
          while (!token.equals("}")) {
            String name = (String) value();
            take(); // the colon
            found.put(name, value());
            if (token.equals(",")) take();
          }
          take();
          return found;
        }
        case "[" -> {
          List<Object> found = new ArrayList<>();
          while (!token.equals("]")) {
            found.add(value());
            if (token.equals(",")) take();
          }
          take();
          return found;
        }
        case "\"" -> {
          String found = take();
          take(); // the closing quotation mark
          return found;
        }
        case "null" -> { return null; }
        case "true", "false" -> { return first.equals("true"); }
        default -> { return Long.valueOf(first); }
      }
    }
  }
}
