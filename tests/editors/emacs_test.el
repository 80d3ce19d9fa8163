;; A real editor drives `ebb lsp`: Emacs without a window, with eglot and the configuration of docs/how-to/editors.md.
;; Environment: EBB_COMMAND, EBB_EMACS_FOLDER, EBB_WORK_DIR.  -*- lexical-binding: t -*-
(require 'package)
(package-initialize)
(require 'cl-lib)
(require 'yaml-mode)
(require 'eglot)
(require 'flymake)

(defun ebb-expect (condition text)
  (unless condition
    (message "FAILED: %s" text)
    (kill-emacs 1)))

;; Only a guard against hanging forever; nothing depends on how long anything takes.
(defun ebb-wait (text condition)
  (with-timeout (60 (ebb-expect nil (concat "waited for " text)))
    (while (not (funcall condition))
      (accept-process-output nil 0.02))))

(defun ebb-answer (method &rest more)
  (jsonrpc-request (eglot--current-server-or-lose) method
                   (append (eglot--TextDocumentPositionParams) more)))

(setq eglot-sync-connect t
      eglot-autoshutdown nil
      make-backup-files nil
      eglot-send-changes-idle-time 0)
(add-to-list 'load-path (getenv "EBB_EMACS_FOLDER"))
(require 'ebb-mode)
(setq ebb-command (getenv "EBB_COMMAND"))

(let ((folder (file-name-as-directory (getenv "EBB_WORK_DIR"))))
  (make-directory folder t)
  (with-temp-file (concat folder "order.yaml")
    (insert "workflow: order\ndeadline: 1h\nsteps:\n  - step: reserve\n    timout: 5s\n"
            "  - step: charge\n    input: {id: \"é😀 ${steps.reserve.output}\"}\n"))
  (find-file (concat folder "order.yaml"))
  (ebb-expect (eq major-mode 'ebb-mode) (format "the mode is %s" major-mode))
  (ebb-expect (derived-mode-p 'yaml-mode) "derived from yaml-mode")
  (call-interactively #'eglot)
  (eglot--signal-textDocument/didOpen)
  (ebb-wait "a diagnostic" (lambda () (flymake-start) (= 1 (length (flymake-diagnostics)))))
  (let ((problem (car (flymake-diagnostics))))
    (ebb-expect (string-match-p "timeout" (flymake-diagnostic-text problem))
                (flymake-diagnostic-text problem))
    (ebb-expect (string= "timout" (buffer-substring (flymake-diagnostic-beg problem)
                                                    (flymake-diagnostic-end problem)))
                "the place of the problem"))

  (goto-char (point-min))
  (search-forward "step: re")
  (ebb-expect (string-match-p "step reserve" (format "%s" (ebb-answer :textDocument/hover))) "hover")

  (search-forward "${steps.res")
  (let ((place (ebb-answer :textDocument/definition)))
    (ebb-expect (string-match-p ":line 3)" (format "%s" place)) (format "definition: %s" place)))

  (eglot-rename "hold")
  (ebb-expect (string-match-p "step: hold\n    handler: reserve\n" (buffer-string)) (buffer-string))
  (ebb-expect (string-match-p "é😀 ${steps\\.hold\\.output}" (buffer-string)) (buffer-string))

  (goto-char (point-min))
  (search-forward "timout")
  (replace-match "timeout")
  ;; Without a window there is no idle time, at which eglot would do it.
  (eglot--signal-textDocument/didChange)
  (ebb-wait "no diagnostic" (lambda () (flymake-start) (null (flymake-diagnostics))))
  (ebb-diagram)
  (with-current-buffer "*Ebb diagram*"
    (ebb-expect (string-match-p "hold" (buffer-string)) (buffer-string)))
  (set-buffer-modified-p nil))
(message "Emacs: diagnostics, hover, definition, rename and the picture work.")
(kill-emacs 0)
